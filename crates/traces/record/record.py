#!/usr/bin/env python3
"""Records the histories in crates/traces/histories: record.py [NAME...]

Each is the beginning of what a program allocates, releases and touches (shim.c). The programs are packages of Debian that set-up does not install: ffmpeg,
sox, minisat, cryptominisat, php-cli, and perl; gcc compiles the shim. Inputs are made here and are the same each time. A record depends on the versions of the
programs and of the C library, so that recording again makes other files.

A history is a sequence of numbers, each in groups of seven bits, lowest first, bit 7 set in all but the last:

  MAGIC, live bytes, largest block, blocks at once, actions; then for each action 4 * N + K with
    K = 0   a block of N bytes, in the slot that was released last, or in a new one
    K = 1   release of slot N
    K = 2   touch of slot N; another number follows, the page, counted from the block's beginning
"""
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HISTORIES = HERE.parent / "histories"
MAGIC = 0xC0F
ACTIONS = 30_000


def formula(path, variables, clauses, seed):
    """A random formula of clauses with three literals."""
    rng = random.Random(seed)
    lines = [f"p cnf {variables} {clauses}"]
    for _ in range(clauses):
        literals = (v * rng.choice((1, -1)) for v in rng.sample(range(1, variables + 1), 3))
        lines.append(" ".join(map(str, literals)) + " 0")
    path.write_text("\n".join(lines) + "\n")


def words(path, count, seed):
    """A stream of words, some of them often."""
    rng = random.Random(seed)
    path.write_text("\n".join(f"word{int(rng.paretovariate(0.4)) % 5000}" for _ in range(count)) + "\n")


NETWORK = r"""<?php
mt_srand(1); $n = [2, 16, 16, 1]; $w = [];
for ($l = 0; $l < 3; $l++) for ($i = 0; $i < $n[$l + 1]; $i++) for ($j = 0; $j <= $n[$l]; $j++) $w[$l][$i][$j] = mt_rand() / mt_getrandmax() * 2 - 1;
for ($e = 0; $e < 2000; $e++) {
    $x = [mt_rand() % 2, mt_rand() % 2]; $t = $x[0] ^ $x[1]; $a = [$x];
    for ($l = 0; $l < 3; $l++) {
        $o = [];
        foreach ($w[$l] as $r) { $s = $r[$n[$l]]; foreach ($a[$l] as $j => $v) $s += $r[$j] * $v; $o[] = 1 / (1 + exp(-$s)); }
        $a[] = $o;
    }
    $d = [$t - $a[3][0]];
    for ($l = 2; $l >= 0; $l--) {
        $g = []; foreach ($a[$l + 1] as $i => $v) $g[] = $d[$i] * $v * (1 - $v);
        $p = []; for ($j = 0; $j < $n[$l]; $j++) { $s = 0; foreach ($g as $i => $v) $s += $w[$l][$i][$j] * $v; $p[] = $s; }
        foreach ($g as $i => $v) { foreach ($a[$l] as $j => $u) $w[$l][$i][$j] += 0.5 * $v * $u; $w[$l][$i][$n[$l]] += 0.5 * $v; }
        $d = $p;
    }
}
"""


def programs(work):
    """Name, command, environment, and files that it reads."""
    formula(work / "a.cnf", 180, 765, 1)
    formula(work / "b.cnf", 120, 505, 2)
    for stream in range(6):
        words(work / f"words{stream}", 4000, stream)
    (work / "network.php").write_text(NETWORK)
    count = "$c{$_}++; if (eof) { $s += $_ for values %c; %c = () }"
    streams = [str(work / f"words{stream}") for stream in range(6)]
    video = "testsrc=size=96x64:rate=5"
    return {
        "ffmpeg": (["ffmpeg", "-nostdin", "-v", "quiet", "-threads", "1", "-filter_threads", "1", "-f", "lavfi", "-i", video,
                    "-t", "2", "-threads", "1", "-c:v", "mpeg4", "-f", "null", "-"], {}),
        "fft": (["sox", "-n", "-n", "synth", "2", "sine", "440", "spectrogram", "-o", str(work / "picture.png")], {}),
        "streams": (["perl", "-ne", count, *streams], {}),
        "cryptominisat": (["cryptominisat5", "-t", "1", "--verb", "0", str(work / "b.cnf")], {}),
        "minisat": (["minisat", "-verb=0", str(work / "a.cnf")], {}),
        # The interpreter's own allocator takes 2 MiB at a time, which says nothing of the program.
        "network": (["php", "-n", str(work / "network.php")], {"USE_ZEND_ALLOC": "0"}),
    }


def record(shim, work, command, environment):
    """The lines of the record."""
    path = work / "record"
    with open(path, "wb") as out:
        for_program = {"PATH": "/usr/bin:/bin", "LD_PRELOAD": str(shim), "COFFERDAM_RECORD": str(out.fileno()), **environment}
        subprocess.run(command, env=for_program, pass_fds=[out.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path.read_text().splitlines()


def number(value):
    groups = bytearray()
    while value >= 128:
        groups.append(value % 128 + 128)
        value //= 128
    groups.append(value)
    return bytes(groups)


def history(lines):
    """The file of a record, and what it comes to."""
    slots, sizes, free = {}, {}, []
    live = largest = blocks = slots_used = actions = 0
    body = bytearray()
    for line in lines:
        what, which, *rest = line.split()
        block = int(which)
        if what == "a":
            # A request for nothing gets a block, too.
            sizes[block] = max(1, int(rest[0]))
            if free:
                slots[block] = free.pop()
            else:
                slots[block], slots_used = slots_used, slots_used + 1
            body += number(4 * sizes[block])
        elif what == "f":
            if block not in slots:
                continue
            free.append(slots[block])
            body += number(4 * slots.pop(block) + 1)
            sizes.pop(block)
        elif block in slots:
            body += number(4 * slots[block] + 2) + number(int(rest[0]))
        else:
            continue
        held = sum(sizes.values()) if what == "a" else 0
        live, largest, blocks = max(live, held), max([largest, *([sizes[block]] if what == "a" else [])]), max(blocks, len(slots))
        actions += 1
        if actions == ACTIONS:
            break
    head = b"".join(map(number, (MAGIC, live, largest, blocks, actions)))
    return head + bytes(body), (actions, live, largest, blocks)


def main():
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        shim = work / "shim.so"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-o", shim, HERE / "shim.c", "-lpthread"], check=True)
        HISTORIES.mkdir(exist_ok=True)
        for name, (command, environment) in programs(work).items():
            if len(sys.argv) > 1 and name not in sys.argv[1:]:
                continue
            lines = record(shim, work, command, environment)
            text, facts = history(lines)
            (HISTORIES / name).write_bytes(text)
            actions, live, largest, blocks = facts
            print(f"{name}: {len(lines)} recorded, {actions} actions, {live} bytes live, {largest} at once, {blocks} blocks; {len(text)} bytes")


main()
