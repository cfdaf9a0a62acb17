# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The payload memory with its four movers, as the core has them: bytes end to end, and clocks for full segments."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import cocotb
from cocotb.simtime import get_sim_time

from cocotb_tests.bench import (
    CLOCK_NS,
    FrameSink,
    FrameSource,
    StreamSink,
    StreamSource,
    clocks,
    generator,
    start,
    until,
)
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.memory.slots import SlotStore, placement

SEGMENT = 1460  # bytes
ODD = 3  # sequence number of each flow's first byte
OFFSET = 54  # byte of a frame at which its payload begins


@each_width
def test_memory_bench(width: int) -> None:
    run_width("MemoryBench", __name__, width)


class Bench:
    def __init__(self, dut: Any, stall: float = 0.0) -> None:
        self.send = FrameSource(dut, "send", stall=stall)
        self.send_opened = StreamSource(dut, "sendOpened")
        self.acknowledged = StreamSource(dut, "acknowledged")
        self.written = StreamSink(dut, "written")
        self.fetches = StreamSource(dut, "fetches")
        self.fetched = FrameSink(dut, "fetched", stall=stall)
        self.placements = StreamSource(dut, "placements")
        self.placed = StreamSink(dut, "placed")
        self.requests = StreamSource(dut, "requests")
        self.receive_opened = StreamSource(dut, "receiveOpened")
        self.received = StreamSource(dut, "received")
        self.receive = FrameSink(dut, "receive", stall=stall)
        self.consumed = StreamSink(dut, "consumed")
        self.store = SlotStore(dut)


Segments = list[tuple[int, int]]
Mover = Callable[[Bench, Segments], Coroutine[Any, Any, None]]


def segments(count: int) -> Segments:
    """Flow and first sequence number of full segments, four flows in turn."""
    return [(number % 4, ODD + number // 4 * SEGMENT) for number in range(count)]


def words(dut: Any, alignment: int) -> int:
    """Words that a segment touches."""
    width = len(dut.slotRead_data) // 8
    return -(-(alignment % width + SEGMENT) // width)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3])
async def sent_data_is_fetched_and_placed_data_is_delivered(dut: Any, stall: float) -> None:
    """Both directions at once; each next step waits for the event that allows it."""
    bench = Bench(dut, stall)
    await start(dut)
    random = generator()
    outward = [(random.randrange(16), random.randbytes(random.randint(1, 3000))) for _ in range(30)]
    inward = [(random.randrange(16), random.randrange(8), random.randint(1, SEGMENT)) for _ in range(30)]
    begins = [random.getrandbits(32) for _ in range(16)]
    for flow, begin in enumerate(begins):
        await bench.send_opened.send({"flow": flow, "sequence_value": begin})
        await bench.receive_opened.send({"flow": flow, "sequence_value": begin})

    async def out() -> None:
        ends = list(begins)
        for flow, data in outward:
            bench.send.put(data, flow=flow)
            assert (await bench.written.receive())["length"] == len(data)
            bench.fetches.put({"flow": flow, "sequence_value": ends[flow] % 2**32, "length": len(data)})
            assert (await bench.fetched.receive()).data == data
            ends[flow] += len(data)
            await bench.acknowledged.send({"flow": flow, "sequence_value": ends[flow] % 2**32})

    async def home() -> None:
        ends = list(begins)
        for flow, slot, length in inward:
            bench.placements.put(placement(flow, ends[flow], length, slot=slot, offset=OFFSET))
            assert (await bench.placed.receive())["length"] == length
            ends[flow] += length
            await bench.received.send({"flow": flow, "sequence_value": ends[flow] % 2**32})
            bench.requests.put({"flow": flow, "length": length})
            assert await bench.receive.receive() == (
                bench.store.payload(slot, OFFSET, length),
                {"flow": flow, "error": 0},
            )

    both = [cocotb.start_soon(out()), cocotb.start_soon(home())]
    for each in both:
        await each
    await until(dut, lambda: dut.idle.value == 1, "idle")


async def fetch(bench: Bench, some: Segments) -> None:
    bench.fetches.put(*({"flow": flow, "sequence_value": at, "length": SEGMENT} for flow, at in some))
    for _ in some:
        await bench.fetched.receive()


async def place(bench: Bench, some: Segments) -> None:
    bench.placements.put(*(placement(flow, at, SEGMENT, slot=flow, offset=OFFSET) for flow, at in some))
    for _ in some:
        await bench.placed.receive()


async def accept(bench: Bench, some: Segments) -> None:
    for flow, _ in some:
        bench.send.put(bytes(SEGMENT), flow=flow)
    for _ in some:
        await bench.written.receive()


async def deliver(bench: Bench, some: Segments) -> None:
    bench.requests.put(*({"flow": flow, "length": SEGMENT} for flow, _ in some))
    for _ in some:
        await bench.receive.receive()


@cocotb.test()
@cocotb.parametrize(
    (
        ("movers", "count"),
        [([fetch, place], 100), ([deliver, accept], 100), ([fetch, deliver, place, accept], 40)],
    )
)
async def full_segments_take_a_clock_a_word(dut: Any, movers: list[Mover], count: int) -> None:
    """A reader and a writer at once, and all four, when two share each channel of the memory."""
    bench = Bench(dut)
    await start(dut)
    some = segments(count)
    for flow in range(4):
        for opened in (bench.send_opened, bench.receive_opened):
            await opened.send({"flow": flow, "sequence_value": ODD})
        await bench.received.send({"flow": flow, "sequence_value": ODD + count // 4 * SEGMENT})
    await clocks(dut, 4)
    begun = get_sim_time("ns")
    for task in [cocotb.start_soon(mover(bench, some)) for mover in movers]:
        await task
    taken = round((get_sim_time("ns") - begun) / CLOCK_NS)

    in_memory = sum(words(dut, at) for _, at in some) * len(movers) // 2
    in_slots = words(dut, OFFSET) * count if place in movers else 0
    minimum = max(in_memory, in_slots)
    names = ", ".join(mover.__name__ for mover in movers)
    dut._log.info(f"{names}: {count} x {SEGMENT} bytes in {taken} clocks; {minimum} words go one way")
    # Once on the way: an application's frame is gathered before its burst begins; the rest is pipeline.
    gathering = words(dut, 0) if accept in movers else 0
    assert taken < minimum + gathering + 40
