"""The machine timer: counts cycles, its interrupt is a comparison, and it takes whole words only."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

import bench

IDLE = {"bus_req_i": 0, "bus_req_data_i": 0}
MSIP, CMP_LOW, CMP_HIGH, TIME_LOW, TIME_HIGH = 0, 0x4000, 0x4004, 0xBFF8, 0xBFFC


@cocotb.test()
async def mtime_counts_cycles(dut):
    """Two reads differ by the cycles between them; the carry reaches the upper word."""
    await bench.start(dut, IDLE)
    _, first = await bench.access(dut, TIME_LOW)
    _, second = await bench.access(dut, TIME_LOW)
    assert second - first == 2
    await bench.access(dut, TIME_LOW, 0xFFFFFFFE)
    await bench.access(dut, TIME_LOW)
    assert (await bench.access(dut, TIME_HIGH))[1] == 1


@cocotb.test()
async def the_interrupt_is_a_comparison(dut):
    """Not pending after reset; pending from mtimecmp on; gone when mtimecmp moves ahead."""
    await bench.start(dut, IDLE)
    assert dut.irq_timer_o.value == 0
    _, now = await bench.access(dut, TIME_LOW)
    await bench.access(dut, CMP_HIGH, 0)
    await bench.access(dut, CMP_LOW, now + 40)
    cycles = 0
    while dut.irq_timer_o.value == 0:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        cycles += 1
    # The read and the two stores took two cycles each; the interrupt is a register behind the comparison.
    assert cycles + 6 == 40 + 1
    await RisingEdge(dut.clk_i)
    await bench.access(dut, CMP_LOW, 0xFFFFFFFF)
    await ReadOnly()
    assert dut.irq_timer_o.value == 0


@cocotb.test()
async def other_accesses_are_refused(dut):
    """Offsets without a register, and parts of words."""
    await bench.start(dut, IDLE)
    for address in (4, 0x4008, 0xBFF4, 0xFFFC):
        assert (await bench.access(dut, address))[0] == 1
    assert (await bench.access(dut, MSIP, 1, enables=1))[0] == 1
    assert dut.irq_software_o.value == 0
    assert (await bench.access(dut, MSIP, 1))[0] == 0
    assert dut.irq_software_o.value == 1
