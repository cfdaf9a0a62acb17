# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The bench, tried on a queue that damages beats on request: damage that the bench misses, every test would miss."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import (
    BrokenStreamError,
    FrameSink,
    FrameSource,
    StreamSink,
    StreamSource,
    bounded,
    clocks,
    generator,
    start,
    until,
)
from cocotb_tests.bench.runner import run_module


def test_bench() -> None:
    run_module("BenchFifo", __name__, random_power_up=True)


async def fifo(dut: Any, *, stall: float = 0.0) -> tuple[FrameSource, FrameSink]:
    source = FrameSource(dut, "source", stall=stall, extras_once=True)
    sink = FrameSink(dut, "sink", stall=stall)
    await start(dut, dropBeat=0, flipBit=0, withdraw=0, freeze=0)
    return source, sink


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3, 0.9])
async def frames_of_every_length_arrive_whole(dut: Any, stall: float) -> None:
    source, sink = await fifo(dut, stall=stall)
    random = generator()
    frames = [(random.randbytes(length), random.getrandbits(8), length % 2) for length in range(1, 40)]
    for data, tag, error in frames:
        source.put(data, tag=tag, error=error)
    for data, tag, error in frames:
        assert await sink.receive() == (data, {"tag": tag, "error": error})
    assert sink.stream.count == source.stream.sent


@cocotb.test()
async def a_stream_without_stalls_passes_a_beat_each_clock(dut: Any) -> None:
    source, sink = await fifo(dut)
    begun = cocotb.simtime.get_sim_time("ns")
    await source.send(bytes(800))
    taken = (cocotb.simtime.get_sim_time("ns") - begun) / 8
    assert taken <= 100 + 4
    assert (await sink.receive()).data == bytes(800)


@cocotb.test()
async def a_changed_bit_is_seen(dut: Any) -> None:
    source, sink = await fifo(dut)
    dut.flipBit.value = 1
    await source.send(bytes(8))
    assert (await sink.receive()).data == b"\1" + bytes(7)


async def waiting_beat(dut: Any) -> None:
    """A beat that is offered and not taken."""
    source, sink = await fifo(dut)
    sink.stream.stall = 1
    await clocks(dut, 2)
    await source.send(bytes(8))
    await until(dut, lambda: dut.sink_valid.value == 1, "the beat behind the queue")
    await clocks(dut, 2)


@cocotb.test(expect_error=BrokenStreamError)
async def a_beat_that_changes_while_it_waits_is_seen(dut: Any) -> None:
    await waiting_beat(dut)
    dut.flipBit.value = 1
    await clocks(dut, 4)


@cocotb.test(expect_error=BrokenStreamError)
async def a_beat_that_is_withdrawn_is_seen(dut: Any) -> None:
    await waiting_beat(dut)
    dut.withdraw.value = 1
    await clocks(dut, 4)


@cocotb.test()
async def a_dropped_beat_is_seen(dut: Any) -> None:
    source, sink = await fifo(dut)
    await source.send(bytes(16))
    await sink.receive()
    dut.dropBeat.value = 1
    await source.send(bytes(8))
    dut.dropBeat.value = 0
    with pytest.raises(AssertionError, match="waited 50 clocks in vain for a beat on sink"):
        await sink.receive(clocks=50)
    assert sink.stream.count == source.stream.sent - 1


@cocotb.test()
async def a_hang_names_what_was_waited_for(dut: Any) -> None:
    source, _ = await fifo(dut)
    dut.freeze.value = 1
    with pytest.raises(AssertionError, match="in vain for source to accept every beat"):
        await source.send(bytes(8), clocks=50)
    with pytest.raises(AssertionError, match="in vain for a rising occupancy"):
        await bounded(dut.occupancy.value_change, "a rising occupancy", clocks=10)


@cocotb.test()
async def a_beat_that_does_not_fit_is_refused(dut: Any) -> None:
    source = StreamSource(dut, "source")
    with pytest.raises(ValueError, match="does not fit 8 bits"):
        source.put({"frame_data": 0, "frame_keep": 256, "frame_last": 0, "tag": 0, "error": 0})
    with pytest.raises(ValueError, match="beat has"):
        source.put({"frame_data": 0})
    with pytest.raises(ValueError, match="no port sank_valid"):
        StreamSink(dut, "sank")
