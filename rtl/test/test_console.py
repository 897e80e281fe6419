"""The console: characters, marks and the end as pulses of one cycle, and an interrupt that is up while it is enabled."""

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

import bench

IDLE = {"bus_req_i": 0, "bus_req_data_i": 0}
PUT, CTRL, MARK, STOP = 0x0000, 0x0004, 0x1004, 0x1008


def pulses(dut):
    return int(dut.put_o.value), int(dut.mark_o.value), int(dut.stop_o.value)


@cocotb.test()
async def each_register_has_its_pulse(dut):
    """The outputs are valid in the cycle of the response, and only then."""
    await bench.start(dut, IDLE)
    for register, expected in ((PUT, (1, 0, 0)), (CTRL, (0, 0, 0)), (MARK, (0, 1, 0)), (STOP, (0, 0, 1))):
        dut.bus_req_i.value = 1
        dut.bus_req_data_i.value = bench.request(register, 0x4A)
        await RisingEdge(dut.clk_i)
        dut.bus_req_i.value = 0
        await ReadOnly()
        assert pulses(dut) == expected and int(dut.word_o.value) == 0x4A
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert pulses(dut) == (0, 0, 0)
        await RisingEdge(dut.clk_i)


@cocotb.test()
async def the_interrupt_is_up_while_it_is_enabled(dut):
    """There is always room."""
    await bench.start(dut, IDLE)
    assert dut.irq_o.value == 0
    await bench.access(dut, CTRL, 1)
    assert dut.irq_o.value == 1
    await bench.access(dut, PUT, 0)
    assert dut.irq_o.value == 1
    await bench.access(dut, CTRL, 0)
    assert dut.irq_o.value == 0


@cocotb.test()
async def other_accesses_are_refused(dut):
    """Loads, offsets without a register, and parts of words."""
    await bench.start(dut, IDLE)
    for register in (PUT, CTRL, MARK, STOP):
        assert (await bench.access(dut, register))[0] == 1
        assert (await bench.access(dut, register, 1, enables=1))[0] == 1
    for address in (0x0008, 0x1000, 0x100C, 0x0FFC):
        assert (await bench.access(dut, address, 1))[0] == 1
    assert dut.irq_o.value == 0
