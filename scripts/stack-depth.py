#!/usr/bin/env python3
"""Deepest static chain of calls from each of the kernel's handlers, in bytes of stack, and of what is above handlers without the kernel (Cortex-M33), which has a
stack of its own.

usage: scripts/stack-depth.py [--json] target/cofferdam/SYSTEM/kernel.elf

`--json` prints the deepest of both, and the bytes of both stacks.

Frames are read off the disassembly: what is pushed and subtracted from sp in straight-line prologues, all of it as if on one path, so
that a sum is an upper bound for its chain. Calls through pointers (blx) are reported, because they would hide a chain; recursion is an
error.
"""
import json
import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
PUSH = re.compile(r"\b(?:push|stmdb\s+sp!,)\s*(?:\.w)?\s*\{(.+?)\}")
DOWN = re.compile(r"\bsub(?:s|w|\.w)?\s+sp,(?: sp,)? #(\d+)")
STORE = re.compile(r"\bstrd?(?:\.w)?\s.*\[sp, #-(\d+)\]!")
CALL = re.compile(r"\b(?:bl|b|b\.w|b\.n)\s+[0-9a-f]+ <([^+>]+)>")


def registers(names):
    count = 0
    for name in names.split(","):
        first, _, last = name.strip().partition("-")
        count += int(last[1:]) - int(first[1:]) + 1 if last else 1
    return count


def stacks(elf):
    """Bytes of the kernel's stack, and of the upper one or 0."""
    text = subprocess.run(["arm-none-eabi-nm", elf], check=True, capture_output=True, text=True).stdout
    at = {name: int(address, 16) for address, _, name in (line.split() for line in text.splitlines() if len(line.split()) == 3)}
    bottom, top = at["__kernel_stack_bottom"], at["__kernel_stack_top"]
    seal = 8
    return top - bottom, at.get("__upper_stack_top", top + seal) - top - seal


def main(elf, as_json):
    text = subprocess.run(["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", elf], check=True, capture_output=True, text=True).stdout
    frames, calls, pointers, function = {}, {}, set(), None
    for line in text.splitlines():
        if found := FUNCTION.match(line):
            function = found[1]
            frames.setdefault(function, 0)
            calls.setdefault(function, set())
        elif function:
            if found := PUSH.search(line):
                frames[function] += 4 * registers(found[1])
            elif found := DOWN.search(line) or STORE.search(line):
                frames[function] += int(found[1])
            elif found := CALL.search(line):
                calls[function].add(found[1])
            elif "\tblx\t" in line:
                pointers.add(function)

    def deepest(name, above):
        if name in above:
            raise SystemExit(f"recursion: {' -> '.join([*above, name])}")
        inner = [deepest(callee, [*above, name]) for callee in calls.get(name, ()) if callee != name]
        bytes_below, chain = max(inner, default=(0, []))
        return frames.get(name, 0) + bytes_below, [name, *chain]

    deep = {"kernel_": 0, "cofferdam_owner_": 0}
    entries = [name for name in frames if name.startswith(tuple(deep)) and name not in ("kernel_start", "kernel_panic")]
    for name in sorted(entries):
        total, chain = deepest(name, [])
        kind = next(kind for kind in deep if name.startswith(kind))
        deep[kind] = max(deep[kind], total)
        if as_json:
            continue
        hidden = ", calls through pointers: " + ", ".join(sorted(pointers.intersection(chain))) if pointers.intersection(chain) else ""
        last = re.findall(r"\d+([a-z_][a-z_0-9]+)", chain[-1])
        print(f"{total:5}  {name}: {len(chain)} functions deep, at the end {last[-1] if last else chain[-1]}{hidden}")
    if as_json:
        stack, upper = stacks(elf)
        print(json.dumps({"kernel": deep["kernel_"], "stack": stack, "above": deep["cofferdam_owner_"], "upper": upper}))


options, files = [given for given in sys.argv[1:] if given == "--json"], [given for given in sys.argv[1:] if given != "--json"]
if len(files) != 1:
    raise SystemExit(__doc__)
main(files[0], bool(options))
