# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ReceiveBuffer: the application gets what it asks for, as far as it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cocotb
from cocotbext.axi import AxiRamRead

from cocotb_tests.bench import FrameSink, StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.memory.axi import read_ram
from cocotb_tests.memory.layout import BUFFER_BYTES, FLOWS, RECEIVE

CONSUMED = 4  # EventKind


@each_width
def test_receive_buffer(width: int) -> None:
    run_width("ReceiveBuffer", __name__, width)


@dataclass
class Module:
    requests: StreamSource
    opened: StreamSource
    received: StreamSource
    data: FrameSink
    consumed: StreamSink
    ram: AxiRamRead

    async def fill(self, flow: int, begin: int, length: int) -> None:
        """Opens a flow whose first `length` bytes are in memory."""
        await self.opened.send({"flow": flow, "sequence_value": begin})
        await self.received.send({"flow": flow, "sequence_value": (begin + length) % 2**32})

    def request(self, flow: int, length: int) -> None:
        self.requests.put({"flow": flow, "length": length})

    async def delivers(self, flow: int, begin: int, length: int) -> None:
        """Checks that the next frame is `length` bytes of the flow from `begin` on."""
        data, extras = await self.data.receive()
        assert extras == {"flow": flow, "error": 0}
        assert data == RECEIVE.read(self.ram, flow, begin, length)
        consumed = {"kind": CONSUMED, "flow": flow, "length": length, "memoryError": 0, "urgent": 0}
        assert await self.consumed.receive() == consumed


async def module(dut: Any, *, stall: float = 0.0, late: int = 1) -> Module:
    made = Module(
        StreamSource(dut, "requests", stall=stall),
        StreamSource(dut, "opened"),
        StreamSource(dut, "received"),
        FrameSink(dut, "data", stall=stall),
        StreamSink(dut, "consumed", stall=stall),
        read_ram(dut, stall=stall, late=late),
    )
    await start(dut)
    return made


@cocotb.test()
@cocotb.parametrize((("stall", "late"), [(0.0, 1), (0.3, 1), (0.6, 60)]))
async def each_request_gets_what_is_there_of_it(dut: Any, stall: float, late: int) -> None:
    here = await module(dut, stall=stall, late=late)
    random = generator()
    begins = [random.getrandbits(32) for _ in range(FLOWS)]
    there = [random.choice([BUFFER_BYTES, random.randint(0, 9000)]) for _ in range(FLOWS)]
    for flow in range(FLOWS):
        await here.fill(flow, begins[flow], there[flow])
    await clocks(dut, 10)
    expected, short = [], 0
    for _ in range(60):
        flow = random.randrange(FLOWS)
        requested = random.choice([random.randint(0, 40), random.randint(1, 9000), 2**32 - 1])
        if requested == 2**32 - 1 and there[flow] > 9000:
            requested = 5
        delivered = min(requested, there[flow])
        short += int(delivered < requested)
        here.request(flow, requested)
        if delivered:
            expected.append((flow, begins[flow], delivered))
        begins[flow] = (begins[flow] + delivered) % 2**32
        there[flow] -= delivered
    for each in expected:
        await here.delivers(*each)
    await until(dut, lambda: here.requests.idle and dut.idle.value == 1, "idle")
    assert dut.underruns.value == short
    assert not here.consumed.pending()


@cocotb.test()
async def a_whole_buffer_can_be_asked_for(dut: Any) -> None:
    here = await module(dut)
    await here.fill(9, 0xFFFF_FFF3, BUFFER_BYTES)
    here.request(9, BUFFER_BYTES)
    await here.delivers(9, 0xFFFF_FFF3, BUFFER_BYTES)
    assert dut.underruns.value == 0


@cocotb.test()
async def a_request_that_finds_nothing_is_counted_and_holds_no_one_up(dut: Any) -> None:
    here = await module(dut)
    await here.fill(0, 77, 0)
    await here.fill(1, 5, 30)
    await clocks(dut, 5)
    here.request(0, 100)
    here.request(1, 20)
    await here.delivers(1, 5, 20)
    assert dut.underruns.value == 1
    await here.received.send({"flow": 0, "sequence_value": 177})
    await clocks(dut, 5)
    here.request(0, 100)
    await here.delivers(0, 77, 100)
    assert dut.underruns.value == 1


@cocotb.test()
async def consumed_follows_the_last_beat(dut: Any) -> None:
    here = await module(dut)
    two = 2 * len(dut.data_payload_data) // 8  # bytes of two beats
    here.data.stream.stall = 1.0
    await here.fill(3, 0, two)
    here.request(3, two)
    await clocks(dut, 200)
    # The first beat is offered, the last one waits behind it.
    assert here.consumed.count == 0
    assert dut.idle.value == 0
    here.data.stream.stall = 0.0
    await here.delivers(3, 0, two)


@cocotb.test()
async def an_end_before_the_first_byte_is_nothing_there(dut: Any) -> None:
    here = await module(dut)
    await here.fill(6, 77, -1)
    await clocks(dut, 5)
    here.request(6, 100)
    await until(dut, lambda: dut.underruns.value == 1, "the underrun")
    await here.received.send({"flow": 6, "sequence_value": 80})
    await clocks(dut, 5)
    here.request(6, 3)
    await here.delivers(6, 77, 3)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def a_frame_with_bytes_that_the_memory_refused_says_so_at_its_end(dut: Any, stall: float) -> None:
    here = await module(dut, stall=stall)
    await here.fill(4, 100, 9000)
    here.ram.faults = {RECEIVE.addresses(4, 3000 - 3000 % 8, 1)[0]}
    errors = []
    for length in (2000, 3000, 8, 1):
        here.request(4, length)
        extras = (await here.data.receive()).extras
        event = await here.consumed.receive()
        assert event["length"] == length
        errors.append((extras["error"], event["memoryError"]))
    assert errors == [(0, 0), (1, 1), (0, 0), (0, 0)]
    assert dut.readErrors.value == 1
