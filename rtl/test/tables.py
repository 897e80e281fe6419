"""Stores to table memories and look-ups of mmu_tables."""

from cocotb.triggers import ReadOnly, RisingEdge

import bench

IDLE = {"config_i": 0, "flush_i": 0, "start_i": 0, "page_i": 0, "bus_req_i": 0, "bus_req_data_i": 0}
WINDOW_A, WINDOW_B, WINDOW_D = 1, 2, 4


async def store(dut, window, index, word):
    """Writes a word of a window, by index."""
    dut.bus_req_i.value = window
    dut.bus_req_data_i.value = bench.request(4 * index, word)
    await RisingEdge(dut.clk_i)
    dut.bus_req_i.value = 0


async def lookup(dut, pages, accesses):
    """Looks a page up on each port, at the same time. Returns for each port: latency, hit, frame."""
    for port in range(2):
        dut.access_i[port].value = accesses[port]
    dut.page_i.value = pages[1] << 19 | pages[0]
    dut.start_i.value = 3
    answers = [None, None]
    for cycle in range(1, 5):
        await RisingEdge(dut.clk_i)
        dut.start_i.value = 0
        await ReadOnly()
        for port in range(2):
            if answers[port] is None and int(dut.done_o.value) >> port & 1:
                frame = int(dut.frame_o.value) >> 19 * port & 0x7FFFF
                answers[port] = (cycle, int(dut.hit_o.value) >> port & 1, frame)
    assert None not in answers, "a look-up has no end"
    await RisingEdge(dut.clk_i)
    return answers
