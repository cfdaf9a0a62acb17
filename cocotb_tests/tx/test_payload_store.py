# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Fetching ahead of need, never beyond the store."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import clocks
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.tx.segment import ASAP, AT, Segment, random_segment
from cocotb_tests.tx.transmitter import Transmitter


@each_width
def test_payload_store(width: int) -> None:
    run_width("Transmitter", __name__, width)


async def never_refuses_payload(dut: Any) -> None:
    while True:
        await RisingEdge(dut.clk)
        assert dut.payload_valid.value == 0 or dut.payload_ready.value == 1, "the memory was held up"


@cocotb.test()
async def two_full_frames_are_fetched_ahead_and_no_more_than_fit(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    bench.wire.stall = 1
    segments = [random_segment(bench.random, flags="PA", length=1460, mode=AT) for _ in range(8)]
    bench.send(*segments)
    await clocks(dut, 1500)
    assert 2 <= bench.fetch.count <= max(2, 512 // -(-1460 // bench.width))
    cocotb.start_soon(never_refuses_payload(dut))
    bench.wire.stall = 0.2
    for segment in segments:
        await bench.expect(segment)
    assert bench.fetch.count == len(segments)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def fetched_payload_always_has_module(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall, latency=30)
    cocotb.start_soon(never_refuses_payload(dut))
    bench.wire.stall = 0.7
    segments = [random_segment(bench.random, flags="PA", length=bench.random.randint(1, 600)) for _ in range(30)]
    bench.send(*segments)
    for segment in segments:
        await bench.expect(segment)
    await bench.quiet()


@cocotb.test()
async def more_small_frames_than_the_lines_hold_wait_without_loss(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    bench.wire.stall = 1
    segments = [random_segment(bench.random, flags="PA", length=1 + n % 9, mode=AT) for n in range(60)]
    bench.send(*segments)
    await clocks(dut, 1000)
    bench.wire.stall = 0
    for segment in segments:
        await bench.expect(segment)
    await bench.quiet()


@cocotb.test()
async def sums_of_extreme_payloads_are_right(dut: Any) -> None:
    """Payload whose ones' complement sum is all ones or whose length is odd: what the carry rounds are for."""
    bench = await Transmitter.create(dut)
    segments = [
        Segment(flow=flow, sequence=start, flags="PA", length=length, mode=ASAP)
        for flow, start in ((0, 0), (1, 8), (2, 16))
        for length in (1, 2, 3, 8, 9, 16, 1459, 1460)
    ]
    bench.send(*segments)
    for segment in segments:
        await bench.expect(segment)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def a_segment_whose_payload_the_memory_refused_is_not_sent(dut: Any, stall: float) -> None:
    """Its flow gets the failure, the segments around it go on, and `release` still comes."""
    bench = await Transmitter.create(dut, stall=stall)
    for length in (1, 8, 700, 1460):
        refused = [random_segment(bench.random, flags="PA", length=length, mode=AT) for _ in range(3)]
        before, acknowledgment, after = refused.pop(), Segment(flow=1, sequence=9), refused.pop()
        bench.send(before)
        await bench.expect(before)
        dut.payloadFailed.value = 1
        bench.send(refused[0], acknowledgment, Segment(flow=refused[0].flow, release=True))
        await bench.expect(acknowledgment)
        failure = await bench.fetch_failures.receive()
        assert failure == {"flow": refused[0].flow, "generation": refused[0].beat()["reference_generation"]}
        assert await bench.released.receive() == {"payload": refused[0].flow}
        await bench.quiet()
        dut.payloadFailed.value = 0
        bench.send(after)
        await bench.expect(after)
    await bench.quiet()
    assert dut.fetchErrors.value == 4
