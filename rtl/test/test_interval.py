"""The timer of domains: counts down in ticks of two cycles, interrupts once in a period, takes whole words only."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

import bench

IDLE = {"bus_req_i": 0, "bus_req_data_i": 0}
CTRL, VALUE, RELOAD, INTERRUPT = 0, 4, 8, 12
COUNTS, ENABLED = 1, 8
TICK = 2


async def cycles_until(dut, up, limit=400):
    """Cycles until the interrupt is up, or down."""
    for cycles in range(limit):
        await ReadOnly()
        if dut.irq_o.value == up:
            await RisingEdge(dut.clk_i)
            return cycles
        await RisingEdge(dut.clk_i)
    raise AssertionError(f"the interrupt is not {up} after {limit} cycles")


@cocotb.test()
async def nothing_moves_before_it_is_started(dut):
    """After reset all registers are 0, the interrupt is down, and VALUE stays."""
    await bench.start(dut, IDLE)
    for register in (CTRL, VALUE, RELOAD, INTERRUPT):
        assert await bench.access(dut, register) == (0, 0)
    await bench.access(dut, RELOAD, 7)
    for _ in range(20):
        await RisingEdge(dut.clk_i)
    assert await bench.access(dut, VALUE) == (0, 7)
    assert dut.irq_o.value == 0


@cocotb.test()
async def a_period_is_one_tick_more_than_reload(dut):
    """The interrupt stays up until it is cleared; periods follow each other without drift."""
    await bench.start(dut, IDLE)
    await bench.access(dut, RELOAD, 9)
    await bench.access(dut, CTRL, COUNTS | ENABLED)
    await cycles_until(dut, 1)
    assert await bench.access(dut, INTERRUPT) == (0, 1)
    await bench.access(dut, INTERRUPT, 0)
    assert (await bench.access(dut, INTERRUPT))[1] == 1
    await bench.access(dut, INTERRUPT, 1)
    assert (await bench.access(dut, INTERRUPT))[1] == 0
    # Five accesses of two cycles; the cycle of the first rise was waited for.
    assert await cycles_until(dut, 1) + 5 * 2 + 1 == 10 * TICK


@cocotb.test()
async def value_can_be_set_alone(dut):
    """A write of VALUE moves the next interrupt and no other."""
    await bench.start(dut, IDLE)
    await bench.access(dut, RELOAD, 100)
    await bench.access(dut, CTRL, COUNTS | ENABLED)
    await bench.access(dut, VALUE, 5)
    assert await cycles_until(dut, 1) <= 5 * TICK
    assert await bench.access(dut, RELOAD) == (0, 100)
    await bench.access(dut, INTERRUPT, 1)
    assert await cycles_until(dut, 1) > 90 * TICK


@cocotb.test()
async def no_interrupt_unless_it_is_enabled(dut):
    """It counts without interrupting, stops at CTRL, and keeps a pending interrupt then."""
    await bench.start(dut, IDLE)
    await bench.access(dut, RELOAD, 3)
    await bench.access(dut, CTRL, COUNTS)
    for _ in range(40):
        await RisingEdge(dut.clk_i)
    assert dut.irq_o.value == 0
    await bench.access(dut, CTRL, COUNTS | ENABLED)
    await cycles_until(dut, 1)
    await bench.access(dut, CTRL, 0)
    first = await bench.access(dut, VALUE)
    for _ in range(10):
        await RisingEdge(dut.clk_i)
    assert await bench.access(dut, VALUE) == first
    assert dut.irq_o.value == 1


@cocotb.test()
async def other_accesses_are_refused(dut):
    """Offsets without a register, and parts of words."""
    await bench.start(dut, IDLE)
    for address in (0x10, 0xFD0, 0xFFC):
        assert (await bench.access(dut, address))[0] == 1
    assert (await bench.access(dut, RELOAD, 5, enables=1))[0] == 1
    assert await bench.access(dut, RELOAD) == (0, 0)
