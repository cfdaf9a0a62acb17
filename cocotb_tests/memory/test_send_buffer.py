# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SendBuffer: frames land behind one another in their flow, as far as the peer's acknowledgments leave space."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import cocotb

from cocotb_tests.bench import FrameSource, StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.memory.axi import FaultyRamWrite, write_ram
from cocotb_tests.memory.layout import BUFFER_BYTES, FLOWS, SEND, Mirror

WRITTEN = 3  # EventKind


@each_width
def test_send_buffer(width: int) -> None:
    run_width("SendBuffer", __name__, width)


@dataclass
class Module:
    data: FrameSource
    opened: StreamSource
    acknowledged: StreamSource
    written: StreamSink
    ram: FaultyRamWrite

    async def open(self, flow: int, sequence: int) -> None:
        await self.opened.send({"flow": flow, "sequence_value": sequence})

    async def acknowledge(self, flow: int, sequence: int) -> None:
        await self.acknowledged.send({"flow": flow, "sequence_value": sequence % 2**32})

    async def taken(self) -> tuple[int, int]:
        """Flow and length of the next written event."""
        event = await self.written.receive()
        assert event["kind"] == WRITTEN
        return event["flow"], event["length"]


async def module(dut: Any, *, stall: float = 0.0, late: int = 1) -> Module:
    made = Module(
        FrameSource(dut, "data", stall=stall),
        StreamSource(dut, "opened"),
        StreamSource(dut, "acknowledged"),
        StreamSink(dut, "written", stall=stall),
        write_ram(dut, stall=stall, late=late),
    )
    await start(dut)
    return made


@cocotb.test()
@cocotb.parametrize((("stall", "late"), [(0.0, 1), (0.3, 1), (0.6, 60)]))
async def frames_follow_one_another_in_their_flow(dut: Any, stall: float, late: int) -> None:
    here = await module(dut, stall=stall, late=late)
    random = generator()
    mirror = Mirror(here.ram)
    ends = [random.getrandbits(32) for _ in range(FLOWS)]
    for flow, end in enumerate(ends):
        await here.open(flow, end)
    waiting: deque[tuple[int, int]] = deque()
    for _ in range(70):
        # Three flows are busy, so that their buffers fill and wrap.
        flow = random.choice([0, 7, 15, random.randrange(FLOWS)])
        length = random.randint(1, 40) if random.random() < 0.6 else random.randint(1, 9000)
        payload = random.randbytes(length)
        SEND.write(mirror, flow, ends[flow], payload)
        ends[flow] = (ends[flow] + length) % 2**32
        here.data.put(payload, flow=flow)
        waiting.append((flow, length))
        if len(waiting) > 5:
            assert await here.taken() == waiting.popleft()
            # The peer has acknowledged all but 20,000 bytes at most, which leaves space for five frames.
            await here.acknowledge(flow, ends[flow] - 9000 * 6 if random.random() < 0.1 else ends[flow] - length)
    for expected in waiting:
        assert await here.taken() == expected
    await until(dut, lambda: dut.idle.value == 1, "idle")
    assert dut.overruns.value == 0
    assert mirror.differences(here.ram) == []


@cocotb.test()
async def the_end_of_urgent_data_comes_with_its_frame(dut: Any) -> None:
    """This holds for a frame of several chunks too, and for no other."""
    here = await module(dut)
    await here.open(3, 0)
    for length, urgent in [(10, 0), (9, 1), (5000, 1), (5000, 0), (1, 1), (2048, 0), (2048, 1)]:
        here.data.put(bytes(length), flow=3, urgent=urgent)
        event = await here.written.receive()
        assert (event["length"], event["urgent"]) == (length, urgent)


@cocotb.test()
async def data_that_does_not_fit_is_dropped_and_counted(dut: Any) -> None:
    here = await module(dut)
    random = generator()
    mirror = Mirror(here.ram)
    begin = 0xFFFF_F123
    await here.open(3, begin)
    await here.open(4, 9)

    payload = random.randbytes(BUFFER_BYTES + 5000)
    SEND.write(mirror, 3, begin, payload[:BUFFER_BYTES])
    await here.data.send(payload, flow=3, clocks=20_000)
    assert await here.taken() == (3, BUFFER_BYTES)
    assert dut.overruns.value == 1

    # Nothing is taken: no event. The frame of another flow behind it is whole.
    here.data.put(random.randbytes(10), flow=3)
    other = random.randbytes(3001)
    SEND.write(mirror, 4, 9, other)
    here.data.put(other, flow=4)
    assert await here.taken() == (4, 3001)
    assert dut.overruns.value == 2

    # Space for 101 bytes, which is no whole number of words.
    await here.acknowledge(3, begin + 101)
    await clocks(dut, 5)
    payload = random.randbytes(2900)
    SEND.write(mirror, 3, begin + BUFFER_BYTES, payload[:101])
    here.data.put(payload, flow=3)
    assert await here.taken() == (3, 101)
    assert dut.overruns.value == 3

    await here.acknowledge(3, begin + BUFFER_BYTES)
    await clocks(dut, 5)
    payload = random.randbytes(77)
    SEND.write(mirror, 3, begin + BUFFER_BYTES + 101, payload)
    here.data.put(payload, flow=3)
    assert await here.taken() == (3, 77)
    assert dut.overruns.value == 3
    assert mirror.differences(here.ram) == []


@cocotb.test()
async def after_a_cut_the_rest_of_the_frame_is_dropped_even_if_space_appears(dut: Any) -> None:
    """A hole in the stream would be worse than a short frame."""
    here = await module(dut)
    random = generator()
    await here.open(5, 0)
    await here.data.send(bytes(BUFFER_BYTES - 100), flow=5, clocks=20_000)
    assert await here.taken() == (5, BUFFER_BYTES - 100)
    mirror = Mirror(here.ram)
    payload = random.randbytes(5000)
    SEND.write(mirror, 5, BUFFER_BYTES - 100, payload[:100])
    beats = here.data._beats(payload, {"flow": 5})
    begin = 3 * len(beats) // 5  # more than a chunk
    await here.data.stream.send(*beats[:begin])
    await clocks(dut, 50)
    await here.acknowledge(5, 30_000)
    await here.data.stream.send(*beats[begin:])
    assert await here.taken() == (5, 100)
    assert dut.overruns.value == 1
    assert mirror.differences(here.ram) == []


@cocotb.test()
async def written_comes_after_the_response(dut: Any) -> None:
    here = await module(dut)
    here.ram.b_channel.pause = True
    await here.open(0, 0)
    here.data.put(bytes(100), flow=0)
    await clocks(dut, 300)
    assert here.written.count == 0
    assert dut.idle.value == 0
    here.ram.b_channel.pause = False
    assert await here.taken() == (0, 100)


@cocotb.test()
async def an_application_that_pauses_within_a_frame_holds_no_burst(dut: Any) -> None:
    here = await module(dut)
    await here.open(0, 0)
    beats = here.data._beats(bytes(1600), {"flow": 0})
    begin = 3 * len(beats) // 4
    await here.data.stream.send(*beats[:begin])
    for _ in range(200):
        await clocks(dut, 1)
        assert dut.axi_awvalid.value == 0
    await here.data.stream.send(*beats[begin:])
    assert await here.taken() == (0, 1600)


@cocotb.test()
async def frames_are_counted_as_they_begin_and_when_the_engine_knows_of_them(dut: Any) -> None:
    """A frame of which nothing is taken has no event, and counts behind the events before it."""
    here = await module(dut)
    await here.open(0, 0)
    here.written.stall = 1
    beats = here.data._beats(bytes(BUFFER_BYTES), {"flow": 0})
    await here.data.stream.send(beats[0])
    assert (dut.begun.value, dut.framesReported.value) == (1, 0)
    await here.data.stream.send(*beats[1:], clocks=20_000)
    await here.data.send(bytes(8), flow=0)
    await until(dut, lambda: dut.overruns.value == 1, "the frame that does not fit")
    await clocks(dut, 50)
    assert (dut.begun.value, dut.framesReported.value) == (2, 0)
    here.written.stall = 0
    assert await here.taken() == (0, BUFFER_BYTES)
    await clocks(dut, 10)
    assert (dut.begun.value, dut.framesReported.value) == (2, 2)
    assert not here.written.pending()


@cocotb.test()
async def an_opening_and_an_acknowledgment_may_come_in_one_clock(dut: Any) -> None:
    here = await module(dut)
    await here.open(1, 0)
    await here.data.send(bytes(BUFFER_BYTES), flow=1, clocks=20_000)
    assert await here.taken() == (1, BUFFER_BYTES)
    here.opened.put({"flow": 2, "sequence_value": 1000})
    here.acknowledged.put({"flow": 1, "sequence_value": 50})
    await clocks(dut, 10)
    here.data.put(bytes(60), flow=1)
    here.data.put(bytes(60), flow=2)
    assert [await here.taken() for _ in range(2)] == [(1, 50), (2, 60)]


@cocotb.test()
async def an_acknowledgment_before_the_first_byte_gives_no_space(dut: Any) -> None:
    """Until the SYN is acknowledged, SND.UNA is one before the first byte (RFC 9293 3.3.1)."""
    here = await module(dut)
    await here.open(1, 1000)
    await here.data.send(bytes(BUFFER_BYTES), flow=1, clocks=20_000)
    assert await here.taken() == (1, BUFFER_BYTES)
    await here.acknowledge(1, 999)
    await clocks(dut, 5)
    await here.data.send(bytes(30), flow=1)
    await until(dut, lambda: dut.overruns.value == 1, "the overrun")
    await here.acknowledge(1, 1007)
    await clocks(dut, 5)
    here.data.put(bytes(30), flow=1)
    assert await here.taken() == (1, 7)


@cocotb.test()
async def a_frame_of_which_the_memory_refused_bytes_is_written_with_an_error(dut: Any) -> None:
    """Any chunk of it marks the frame, and the frame alone."""
    here = await module(dut)
    await here.open(5, 0)
    here.ram.faults = {SEND.addresses(5, 2400, 1)[0]}
    for length in (100, 7000, 100):
        here.data.put(bytes(length), flow=5)
    events = [await here.written.receive() for _ in range(3)]
    assert [(event["length"], event["memoryError"]) for event in events] == [(100, 0), (7000, 1), (100, 0)]
    assert dut.writeErrors.value == 1
