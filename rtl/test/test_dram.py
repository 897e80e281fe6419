"""DRAM: every access takes 4 slots, in each phase of the wheel, whatever the other port does; memory keeps what was stored."""

import random

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

import bench

IDLE = {"req_i": 0, "req_data_i": 0}
FILL = 0xDEADD4A3


async def one(dut, state, port, address, word=None, enables=0xF):
    """An access of a port, beside whatever the other does. Returns latency and word."""
    state["req"][port], state["data"][port] = 1, bench.request(address, word, enables)
    drive(dut, state)
    await ReadOnly()
    assert int(dut.gnt_o.value) >> port & 1, "an idle port grants at once"
    await RisingEdge(dut.clk_i)
    state["req"][port] = 0
    drive(dut, state)
    latency = 1
    while True:
        await ReadOnly()
        if int(dut.rvalid_o.value) >> port & 1:
            break
        latency += 1
        await RisingEdge(dut.clk_i)
    response = int(dut.rsp_o.value) >> 33 * port & (1 << 33) - 1
    await RisingEdge(dut.clk_i)
    return latency, response & 0xFFFFFFFF


def drive(dut, state):
    dut.req_i.value = state["req"][1] << 1 | state["req"][0]
    dut.req_data_i.value = state["data"][1] << 69 | state["data"][0]


async def traffic(dut, state, port, memory, latencies, draw, count):
    """Random accesses to words that only this port uses, at random distances."""
    for _ in range(count):
        for _ in range(draw.choice([0, 0, 1, 2, 5, 11])):
            await RisingEdge(dut.clk_i)
        index = 2 * draw.randrange(64) + port
        old = memory.get(index, FILL)
        if port == 1 and draw.randrange(2):
            word, enables = draw.getrandbits(32), draw.randrange(16)
            latency, _ = await one(dut, state, port, 0x40000000 + 4 * index, word, enables)
            mask = sum(0xFF << 8 * byte for byte in range(4) if enables >> byte & 1)
            memory[index] = old & ~mask | word & mask
        else:
            latency, word = await one(dut, state, port, 0x40000000 + 4 * index)
            assert word == old
        latencies.add(latency)


@cocotb.test()
async def latency_is_one_number(dut):
    """1000 accesses on both ports at once."""
    await bench.start(dut, IDLE)
    state, latencies, draw = {"req": [0, 0], "data": [0, 0]}, set(), random.Random(3)
    memory = {}
    other = cocotb.start_soon(traffic(dut, state, 0, memory, latencies, random.Random(4), 400))
    await traffic(dut, state, 1, memory, latencies, draw, 600)
    await other
    assert latencies == {4 * int(dut.SlotCycles.value)}


@cocotb.test()
async def every_phase_of_the_wheel(dut):
    """An access that begins in each phase takes the same time on each port."""
    await bench.start(dut, IDLE)
    state = {"req": [0, 0], "data": [0, 0]}
    for port in range(2):
        for _ in range(10):
            latency, _ = await one(dut, state, port, 0x40000100)
            assert latency == 12
            await RisingEdge(dut.clk_i)
