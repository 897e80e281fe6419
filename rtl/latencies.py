#!/usr/bin/env python3
"""Prints the latencies of every model as a table, from a run of the smoke program: cycles from grant to response.

    latencies.py BUILD MODEL...

Exit code 1 when a model without a TLB has two latencies for mapped accesses of one kind, or RTMMU at double speed is not as
fast as `direct`.
"""

import pathlib
import re
import subprocess
import sys

ROWS = [("load translated DRAM", "load"), ("store translated DRAM", "store"), ("fetch translated DRAM", "fetch"),
        ("load translated fault", "fault of a load"), ("load untranslated DRAM", "load, untranslated"),
        ("load untranslated local", "load from local memory"), ("fetch untranslated local", "fetch from local memory")]


def main():
    build = pathlib.Path(sys.argv[1])
    models = sys.argv[2:]
    seen = {}
    for model in models:
        run = subprocess.run([build / model / "soc_sim", build / "sw/smoke.elf", "--latencies"], check=True, capture_output=True, text=True)
        for what, cycles in re.findall(r"^latency (.*?) +(\d+) cycles", run.stderr, re.M):
            seen.setdefault((what, model), []).append(cycles)
    for row in ("load translated DRAM", "store translated DRAM", "fetch translated DRAM"):
        for model in models:
            if model != "sv32tlb" and model != "none" and len(seen.get((row, model), [])) != 1:
                sys.exit(f"latencies: {row} on {model}: {seen.get((row, model))} cycles, not one number")
        if seen.get((row, "rtmmu2x")) != seen.get((row, "direct")):
            sys.exit(f"latencies: {row}: RTMMU at double speed is not as fast as direct")
    print("| access | " + " | ".join(models) + " |")
    print("| --- " * (len(models) + 1) + "|")
    for key, text in ROWS:
        print(f"| {text} | " + " | ".join(" or ".join(seen.get((key, model), ["-"])) for model in models) + " |")


main()
