"""Registers of the MMU: written and read back, refused otherwise, a flush with every change."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

import bench

IDLE = {"bus_req_i": 0, "bus_req_data_i": 0}
CONTROL, BASE, PAGES_LOG2, FLUSH, KIND = 0, 4, 8, 12, 16


@cocotb.test()
async def registers_hold_and_flush(dut):
    """Off after reset; what is written is read; every write flushes for one cycle."""
    await bench.start(dut, IDLE)
    assert int(dut.config_o.value) == 0
    for register, word, kept in ((CONTROL, 0xFFFFFFFF, 1), (BASE, 0xFFF12345, 0x12345), (PAGES_LOG2, 7, 7),
                                 (PAGES_LOG2, 20, 19), (PAGES_LOG2, 0xFFFFFFFF, 19)):
        dut.bus_req_i.value = 1
        dut.bus_req_data_i.value = bench.request(register, word)
        await RisingEdge(dut.clk_i)
        dut.bus_req_i.value = 0
        await ReadOnly()
        assert dut.flush_o.value == 1
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert dut.flush_o.value == 0
        await RisingEdge(dut.clk_i)
        assert await bench.access(dut, register) == (0, kept)
    assert int(dut.config_o.value) == bench.config(0x12345, 19)


@cocotb.test()
async def other_accesses_are_refused(dut):
    """KIND is read only; parts of words and other offsets are refused and change nothing."""
    await bench.start(dut, IDLE)
    assert await bench.access(dut, KIND) == (0, 19 << 16 | 1 << 8 | 1)
    assert (await bench.access(dut, KIND, 1))[0] == 1
    assert (await bench.access(dut, CONTROL, 1, enables=1))[0] == 1
    assert (await bench.access(dut, 20))[0] == 1
    assert int(dut.config_o.value) == 0
