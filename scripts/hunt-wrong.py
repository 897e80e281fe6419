#!/usr/bin/env python3
"""Hunts with wrong kernels, each of which must be found: eval/hunt/wrong.toml lists them.

    scripts/hunt-wrong.py [--systems N] [--seed N] [NAME...]

A kernel is built from a copy of the sources below target/mutants/hunt with its mutants applied. Each hunt ends with the first system in which somebody is
harmed. Without names all kernels are tried. Ends with the line "N found, N missed", and with 1 if one was missed.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASE = ROOT / "target/mutants/hunt"
TREE = BASE / "tree"


def mutants(wrong):
    """The mutants of its list that a wrong kernel has: all of its name, or those of them that change the file `file`."""
    listed = tomllib.loads((ROOT / wrong["list"]).read_text())["mutant"]
    is_it = lambda m: wrong["name"] in (m.get("check"), m.get("protection")) and wrong.get("file", m["file"]) == m["file"]
    found = [m for m in listed if is_it(m)]
    if not found:
        sys.exit(f"{wrong['list']} has no mutant of the name `{wrong['name']}`")
    return found


def copy():
    """Copies what git knows; what is unchanged keeps its time, so that it is not built again."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    # A file that has moved would be a second module of its name.
    known = {TREE / name for name in files}
    for path in [path for path in TREE.rglob("*") if path.is_file() and path not in known]:
        path.unlink()
    for name in filter(None, files):
        source, target = ROOT / name, TREE / name
        if not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        target.touch()


def hunt(wrong, options):
    """Runs the hunt; returns the number of the first system that was harmed, or None."""
    originals = {}
    for change in mutants(wrong):
        path = TREE / change["file"]
        text = path.read_text()
        originals.setdefault(path, text)
        if text.count(change["find"]) != 1:
            sys.exit(f"the mutant `{wrong['name']}` does not apply to {change['file']}")
        path.write_text(text.replace(change["find"], change["replace"]))
    release = ROOT / "target/release"
    environment = dict(os.environ, COFFERDAM_ROOT=str(TREE), CARGO_TARGET_DIR=str(BASE / "target"))
    environment |= {"COFFERDAM_PLUGIN": str(release / "libcofferdam_plugin.so"), "COFFERDAM_RTL": str(ROOT / "target/rtl")}
    command = [release / "cofferdam-hunt", "--board", wrong["board"], "--systems", str(options.systems)]
    command += ["--seed", str(options.seed), "--until-harmed", "--out", BASE / "results"]
    ran = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    for path, text in originals.items():
        path.write_text(text)
    if ran.returncode not in (0, 1):
        sys.exit(f"{ran.stdout}{ran.stderr}")
    systems = [line for line in ran.stdout.split("\n") if line[:5].strip().isdigit()]
    return int(systems[-1][:5]) if ran.returncode == 1 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    listed = tomllib.loads((ROOT / "eval/hunt/wrong.toml").read_text())["wrong"]
    missed = 0
    chosen = [wrong for wrong in listed if not options.names or wrong["name"] in options.names]
    # The hunt itself is built first: an older one would draw other systems.
    subprocess.run([ROOT / "scripts/hunt.sh", "--help"], stdout=subprocess.DEVNULL, check=True)
    copy()
    for wrong in chosen:
        began = time.monotonic()
        number = hunt(wrong, options)
        missed += number is None
        said = f"not found in {options.systems} systems" if number is None else f"found by system {number}"
        print(f"{wrong['board']}, {wrong['cause']}: {said}, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{len(chosen) - missed} found, {missed} missed")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
