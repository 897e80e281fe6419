"""Sv32 against a walk that is written out here, with a TLB that is flushed or not."""

import random

import cocotb
from cocotb.triggers import RisingEdge

import bench
import tables

WORDS = 1 << 13
TABLE_PAGE = 0x22000
ROOT = TABLE_PAGE + 2


def admits(entry, access):
    """Whether a leaf admits an access: valid, user, accessed, no reserved bit, and dirty for stores."""
    r, w, x = entry >> 1 & 1, entry >> 2 & 1, entry >> 3 & 1
    if not entry & 1 or (w and not r) or not (r or x) or not entry & 0x10 or not entry & 0x40 or entry >> 29:
        return False
    return [r, w and entry & 0x80, x][access] != 0


def walk(words, page, access):
    """The frame of a page, or None; and whether the first level decides."""
    page |= 1 << 19
    one = words[(ROOT - TABLE_PAGE) * 1024 + (page >> 10)]
    pointer = one & 1 and not one & 0xDE and (one >> 10) // 8 == TABLE_PAGE // 8
    if not pointer:
        leaf = one & 0xA and one >> 10 & 0x3FF == 0 and admits(one, access)
        return ((one >> 10 | page & 0x3FF) & 0x7FFFF if leaf else None), True
    two = words[((one >> 10) % 8) * 1024 + (page & 0x3FF)]
    return (two >> 10 & 0x7FFFF if admits(two, access) else None), False


def some_entry(draw):
    """Mostly entries that mean something."""
    style = draw.randrange(8)
    if style == 0:
        return draw.getrandbits(32)
    if style < 4:
        return (TABLE_PAGE + draw.randrange(8)) << 10 | 1
    flags = 0xD1 | draw.choice([2, 6, 10, 14, 8, 4])
    flags ^= 1 << draw.randrange(8) if draw.randrange(6) == 0 else 0
    return draw.getrandbits(19) << 10 & ~(0xFFC00 if style == 7 else 0) | flags


async def flush(dut):
    dut.flush_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.flush_i.value = 0


@cocotb.test()
async def every_answer_is_the_walks(dut):
    """Random tables; look-ups near each other, so that the TLB serves some; a flush behind every change."""
    await bench.start(dut, tables.IDLE)
    draw = random.Random(2)
    words = [some_entry(draw) for _ in range(WORDS)]
    for index, word in enumerate(words):
        await tables.store(dut, tables.WINDOW_D, index, word)
    dut.config_i.value = bench.config(ROOT, 0)
    await flush(dut)
    latencies, hits = set(), 0
    near = [draw.getrandbits(19) for _ in range(6)]
    for _ in range(4000):
        if draw.randrange(20) == 0:
            near = [draw.getrandbits(19) for _ in range(6)]
        if draw.randrange(50) == 0:
            index = draw.randrange(WORDS)
            words[index] = some_entry(draw)
            await tables.store(dut, tables.WINDOW_D, index, words[index])
            await flush(dut)
        pages, accesses = draw.choices(near, k=2), [draw.randrange(3) for _ in range(2)]
        for page, access, answer in zip(pages, accesses, await tables.lookup(dut, pages, accesses), strict=True):
            frame, one_level = walk(words, page, access)
            assert answer[1] == (frame is not None), f"page {page:#x} access {access}"
            assert frame is None or answer[2] == frame
            assert answer[0] in (1, 2) and (not one_level or answer[0] == 1)
            latencies.add((answer[0], one_level))
            hits += frame is not None
    # The TLB has served pages of two levels, and not all of them.
    assert latencies == {(1, True), (1, False), (2, False)} and hits > 500


@cocotb.test()
async def nothing_from_before_a_flush_stays(dut):
    """An entry that was in the TLB is read again behind a flush, one that was being walked at the flush, too."""
    await bench.start(dut, tables.IDLE)
    leaf, pointer = 0x40123 << 10 | 0xDF, (TABLE_PAGE + 1) << 10 | 1
    await tables.store(dut, tables.WINDOW_D, (ROOT - TABLE_PAGE) * 1024 + 512, pointer)
    dut.config_i.value = bench.config(ROOT, 0)
    for cycles_before_flush in range(4):
        await tables.store(dut, tables.WINDOW_D, 1024, leaf)
        await flush(dut)
        for port in range(2):
            dut.access_i[port].value = bench.LOAD
        dut.page_i.value = 0
        dut.start_i.value = 3
        for cycle in range(4):
            dut.flush_i.value = cycle == cycles_before_flush
            await RisingEdge(dut.clk_i)
            dut.start_i.value = 0
        dut.flush_i.value = 0
        await RisingEdge(dut.clk_i)
        await tables.store(dut, tables.WINDOW_D, 1024, 0)
        assert [answer[1] for answer in await tables.lookup(dut, [0, 0], [0, 0])] == [0, 0]
