# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Descriptors in, frames out: scapy builds the same frames."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.simtime import get_sim_time
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import CLOCK_NS, generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.tx.segment import AT, FLOWS, Segment, random_segment
from cocotb_tests.tx.transmitter import Transmitter

# docs/reference/tx.md
IMMEDIATE_CLOCKS = 14  # from an accepted descriptor to the frame's first beat
FETCH_CLOCKS = 5  # to the fetch of a data frame
PAYLOAD_CLOCKS = 14  # from its last payload beat to its first beat on the wire
GATHERING_CLOCKS = 8  # at most, to either, with beats of more than eight bytes


@each_width
def test_transmitter(width: int) -> None:
    run_width("Transmitter", __name__, width)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3])
async def payload_of_every_length_is_byte_exact(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall)
    lengths = [*range(80), *generator().sample(range(80, 1440), 20), *range(1440, 1461)]
    segments = [random_segment(bench.random, flags="PA", length=length, mode=AT) for length in lengths]
    bench.send(*segments)
    for segment in segments:
        await bench.expect(segment)
    await bench.quiet()
    assert int(dut.framesSent.value) == len(segments)
    assert int(dut.bytesSent.value) == sum(len(segment.frame()) for segment in segments)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3, 0.7])
async def each_flow_and_all_data_keep_their_order(dut: Any, stall: float) -> None:
    """RFC 9293 3.10.7.4: of two windows with equal SEQ and ACK the peer takes the later one."""
    bench = await Transmitter.create(dut, stall=stall, latency=20)
    waiting = [random_segment(bench.random) for _ in range(300)]
    bench.send(*waiting)
    overtakes = 0
    while waiting:
        sent = await bench.receive()
        segment = next(segment for segment in waiting if segment.frame() == sent.data)
        ahead = waiting[: waiting.index(segment)]
        assert segment.flow not in {other.flow for other in ahead}, "a segment overtook one of its flow"
        assert segment.immediate or all(other.immediate for other in ahead), "data overtook data"
        overtakes += bool(ahead)
        waiting.remove(segment)
        assert sent.mode == segment.mode
        assert bool(sent.tag) == segment.stamped
        assert segment.immediate or sent.launch == segment.launch
    assert overtakes, "the ACK of another flow waited for its turn"
    await bench.quiet()


@cocotb.test()
async def full_segments_follow_each_other_without_a_gap(dut: Any) -> None:
    """A clock a beat and two; the memory answers late, but ahead of need."""
    bench = await Transmitter.create(dut, latency=60)
    segments = [random_segment(bench.random, flags="PA", length=1460, mode=AT) for _ in range(12)]
    bench.send(*segments)
    ends = []
    for segment in segments:
        await bench.expect(segment)
        ends.append(get_sim_time("ns") / CLOCK_NS)
    clocks = (ends[-1] - ends[2]) / (len(ends) - 3)
    dut._log.info(f"{clocks} clocks for a frame of 1,460 bytes; the first was complete after {ends[0]}")
    assert clocks <= -(-1514 // bench.width) + 2


@cocotb.test()
async def smallest_frames_take_ten_clocks(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    segments = [random_segment(bench.random, flags="A") for _ in range(40)]
    bench.send(*(Segment(flow=segment.flow, sequence=segment.sequence) for segment in segments))
    ends = []
    for _ in segments:
        await bench.receive()
        ends.append(get_sim_time("ns") / CLOCK_NS)
    assert (ends[-1] - ends[0]) / (len(ends) - 1) <= 10


async def _clocks_until(dut: Any, begin: str, end: str) -> int:
    """Clocks from the one in which `begin` is taken to the first in which `end` is offered."""
    while not (getattr(dut, f"{begin}_valid").value == 1 and getattr(dut, f"{begin}_ready").value == 1):
        await RisingEdge(dut.clk)
    for clocks in range(100):
        if getattr(dut, f"{end}_valid").value == 1:
            return clocks
        await RisingEdge(dut.clk)
    raise AssertionError(f"{end} is not offered within 100 clocks of {begin}")


@cocotb.test()
async def latencies_without_anything_in_the_way(dut: Any) -> None:
    bench = await Transmitter.create(dut, latency=0)
    offered_after = cocotb.start_soon(_clocks_until(dut, "descriptors", "wire"))
    bench.send(Segment(flags="A"))
    # Wider beats are gathered from words of eight bytes, and have a deeper sum.
    gathering = 0 if bench.width == 8 else GATHERING_CLOCKS
    assert 0 <= await offered_after - IMMEDIATE_CLOCKS <= gathering
    await bench.expect(Segment(flags="A"))
    await bench.quiet()
    segment = Segment(flags="PA", length=8, mode=AT)
    offered_after = cocotb.start_soon(_clocks_until(dut, "descriptors", "fetch"))
    arrives = cocotb.start_soon(_clocks_until(dut, "payload", "wire"))
    bench.send(segment)
    assert await offered_after == FETCH_CLOCKS
    assert 0 <= await arrives - PAYLOAD_CLOCKS <= gathering
    await bench.expect(segment)
    await bench.quiet()


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def release_comes_when_every_frame_of_the_flow_is_built(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall, latency=100)
    for flow in range(FLOWS):
        segments = [random_segment(bench.random, flow=flow) for _ in range(3)]
        fetched = bench.payload.sent
        read = bench.address_reads
        bench.send(*segments, Segment(flow=flow, release=True))
        assert await bench.released.receive() == {"payload": flow}
        beats = sum(-(-segment.length // bench.width) for segment in segments)
        assert bench.payload.sent == fetched + beats, "released before the payload was here"
        assert bench.address_reads == read + 3, "released before the addresses were read"
    for _ in range(3 * FLOWS):
        await bench.receive()
    await bench.quiet()
    assert bench.released.count == FLOWS


@cocotb.test()
async def not_idle_while_memory_is_awaited(dut: Any) -> None:
    bench = await Transmitter.create(dut, latency=200)
    assert dut.idle.value == 1
    segment = Segment(flags="PA", length=100, mode=AT)
    await bench.descriptors.send(segment.beat())
    for _ in range(150):
        await RisingEdge(dut.clk)
        assert dut.idle.value == 0
    await bench.expect(segment)
    await bench.quiet()
