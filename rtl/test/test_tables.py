"""RTMMU against the answers of crates/rtmmu, and `direct` against its own table, on both ports at once."""

import os
import random

import cocotb

import bench
import tables

ENTRIES = 1 << 11


def kind(dut):
    return int(dut.Kind.value)


@cocotb.test(skip="VECTORS" not in os.environ)
async def rtmmu_answers_as_the_crate(dut):
    """Every store of a history of operations; behind each operation, look-ups on both ports."""
    await bench.start(dut, tables.IDLE)
    base, pages_log2 = 0x7C0, 6
    dut.config_i.value = bench.config(base, pages_log2)
    places = {"c": (tables.WINDOW_A, 0), "sp": (tables.WINDOW_A, ENTRIES), "h": (tables.WINDOW_B, 0),
              "s": (tables.WINDOW_B, ENTRIES), "d": (tables.WINDOW_D, 0)}
    latency = 1 if int(dut.DoubleSpeed.value) else 2
    asked, hits = [], 0
    with open(os.environ["VECTORS"]) as lines:
        for line in lines:
            what, *fields = line.split()
            if what == "w":
                window, first = places[fields[0]]
                await tables.store(dut, window, first + base + int(fields[1]), int(fields[2]))
                continue
            asked.append((int(fields[0]), int(fields[1]), fields[2]))
            if len(asked) < 2:
                continue
            answers = await tables.lookup(dut, [page for page, _, _ in asked], [access for _, access, _ in asked])
            for (page, access, frame), answer in zip(asked, answers, strict=True):
                assert answer[0] == latency, f"page {page}: {answer[0]} cycles"
                assert answer[1] == (frame != "-"), f"page {page} access {access}: hit {answer[1]}, the crate says {frame}"
                if frame != "-":
                    assert answer[2] == int(frame)
                    hits += 1
            asked = []
    assert hits > 100


@cocotb.test(skip="VECTORS" in os.environ)
async def direct_answers_as_its_table(dut):
    """Random entries in the tables of one domain, other domains beside it."""
    await bench.start(dut, tables.IDLE)
    draw = random.Random(1)
    base, pages_log2 = 0x480, 7
    words = [draw.getrandbits(32) for _ in range(ENTRIES)]
    for index, word in enumerate(words):
        await tables.store(dut, tables.WINDOW_D, index, word)
    # Low bits of the base are ignored.
    dut.config_i.value = bench.config(base + 5, pages_log2)
    for _ in range(2000):
        pages = [draw.randrange(1 << pages_log2) if draw.randrange(8) else draw.getrandbits(19) for _ in range(2)]
        accesses = [draw.randrange(3) for _ in range(2)]
        answers = await tables.lookup(dut, pages, accesses)
        for page, access, answer in zip(pages, accesses, answers, strict=True):
            word = words[base + page % (1 << pages_log2)]
            hit = page < 1 << pages_log2 and word >> 31 and word >> 28 + [0, 1, 2][access] & 1
            assert answer[:2] == (1, bool(hit))
            assert not hit or answer[2] == word & 0x7FFFF


@cocotb.test()
async def off_means_a_fault(dut):
    """Whatever the tables hold, nothing is translated before the kernel says so."""
    await bench.start(dut, tables.IDLE)
    dut.config_i.value = bench.config(0, 11, enable=0)
    for page in range(200):
        answers = await tables.lookup(dut, [page, page], [bench.FETCH, bench.LOAD])
        assert [answer[1] for answer in answers] == [0, 0]
