"""Shared by the tests: the clock, reset, the payload of requests, one bus access."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

LOAD, STORE, FETCH = range(3)


def request(address, word=None, enables=0xF):
    """A bus_req_t: a load, or a store of `word`."""
    return (word is not None) << 68 | enables << 64 | address << 32 | (word or 0)


def config(base, pages_log2, enable=1):
    """An mmu_config_t."""
    return enable << 24 | pages_log2 << 19 | base


async def start(dut, idle):
    """Starts the clock and takes the module out of reset; `idle` are the inputs that have to be quiet."""
    for signal, value in idle.items():
        getattr(dut, signal).value = value
    dut.rst_ni.value = 1
    cocotb.start_soon(Clock(dut.clk_i, 20, unit="ns").start(start_high=False))
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)


async def access(dut, address, word=None, enables=0xF):
    """One access of a slave whose response takes a cycle. Returns err and the word."""
    dut.bus_req_i.value = 1
    dut.bus_req_data_i.value = request(address, word, enables)
    await RisingEdge(dut.clk_i)
    dut.bus_req_i.value = 0
    await ReadOnly()
    assert dut.bus_rvalid_o.value == 1
    response = int(dut.bus_rsp_o.value)
    await RisingEdge(dut.clk_i)
    return response >> 32, response & 0xFFFFFFFF
