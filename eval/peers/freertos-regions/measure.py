"""Counts the instructions of the fault handler, of each miss, and of the hook at a switch.

    measure.py IMAGE -- QEMU...

QEMU executes one instruction at a time and names each one of the ranges asked for; nothing is sampled.
"""

import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile


def symbols(image):
    text = subprocess.run(["arm-none-eabi-nm", "-S", image], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        words = line.split()
        size = int(words[1], 16) if len(words) == 4 else 0
        found[words[-1]] = (int(words[0], 16) & ~1, size)
    return found


def executed(command, ranges):
    """The address of every instruction that is executed in some ranges, and the program's exit status at the end."""
    with tempfile.TemporaryDirectory() as directory:
        pipe = os.path.join(directory, "log")
        os.mkfifo(pipe)
        filters = ",".join(f"{start:#x}..{end - 1:#x}" for start, end in ranges)
        more = ["-accel", "tcg,one-insn-per-tb=on", "-d", "exec,nochain", "-D", pipe, "-dfilter", filters]
        run = subprocess.Popen(command + more, stdout=subprocess.PIPE, text=True)
        place = re.compile(r"\[[0-9a-f]+/([0-9a-f]+)/")
        with open(pipe) as log:
            for line in log:
                found = place.search(line)
                if found:
                    yield int(found.group(1), 16)
        said = run.communicate()[0].splitlines()
        if run.returncode != 0 or said[-1:] != ["status 0"]:
            sys.exit(f"the run ended with exit code {run.returncode}, saying {said[-1:]}")


def main():
    image, command = sys.argv[1], sys.argv[sys.argv.index("--") + 1 :]
    known = symbols(image)
    miss = (known["__miss_start__"][0], known["__miss_end__"][0])
    entry, loaded = known["regions_memory_fault"][0], known["regions_loaded"][0]
    hook, hook_size = known["regions_switched_in"]
    misses, hooks, run, inside = [], [], [], None

    def close():
        if inside == "hook":
            hooks.append(len(run))
        elif inside == "miss" and loaded in run:
            misses.append(len(run))

    for address in executed(command, [miss, (hook, hook + hook_size)]):
        if address in (entry, hook):
            close()
            run, inside = [], "miss" if address == entry else "hook"
        run.append(address)
    close()
    for name, counts in (("miss", misses), ("switch", hooks)):
        by_count = ", ".join(f"{count} x {n}" for count, n in sorted(collections.Counter(counts).items()))
        print(f"{name}: {len(counts)}, instructions least {min(counts)}, median {statistics.median_low(counts)}, most {max(counts)}")
        print(f"  {by_count}")


if __name__ == "__main__":
    main()
