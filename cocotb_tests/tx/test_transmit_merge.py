# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Three lines into one: immediate first, data and bypass in turn, whole frames. Bench.receive sees any interleaving."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import clocks
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.tx.segment import ASAP, AT, random_segment
from cocotb_tests.tx.transmitter import Transmitter

SLOW = 0.9  # stalls of a wire whose lines all have a frame that waits, at 64 bytes a beat too


@each_width
def test_transmit_merge(width: int) -> None:
    run_width("Transmitter", __name__, width)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def an_immediate_frame_overtakes_what_has_not_begun(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall)
    bench.wire.stall = 1
    data = [random_segment(bench.random, flow=1, flags="PA", length=400, mode=AT) for _ in range(4)]
    immediate = [random_segment(bench.random, flow=2, flags=flags, length=0, mode=ASAP) for flags in ("A", "RA", "R")]
    bench.send(*data)
    await clocks(dut, 600)
    bench.send(*immediate)
    await clocks(dut, 100)
    bench.bypass.put(bytes(100))
    await clocks(dut, 20)
    bench.wire.stall = SLOW
    await bench.expect(data[0])
    for segment in immediate:
        await bench.expect(segment)
    rest = [(await bench.receive()).data for _ in range(4)]
    assert rest == [bytes(100), *(segment.frame() for segment in data[1:])]


@cocotb.test()
async def data_and_bypass_take_turns(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    bench.wire.stall = 1
    data = [random_segment(bench.random, flags="PA", length=200, mode=AT) for _ in range(5)]
    others = [bench.random.randbytes(60 + n) for n in range(5)]
    bench.send(*data)
    await clocks(dut, 300)
    for frame in others:
        bench.bypass.put(frame)
    await clocks(dut, 10)
    bench.wire.stall = SLOW
    frames = [(await bench.receive()).data for _ in range(10)]
    assert frames[0::2] == [segment.frame() for segment in data]
    assert frames[1::2] == others


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def bypass_passes_byte_exact(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall)
    frames = [bench.random.randbytes(length) for length in (*range(60, 80), 1514, 1, 8)]
    for frame in frames:
        bench.bypass.put(frame)
    for frame in frames:
        sent = await bench.receive()
        assert (sent.data, sent.mode, sent.tag) == (frame, ASAP, 0)
    await bench.quiet()
    assert int(dut.framesSent.value) == len(frames)
    assert int(dut.bytesSent.value) == sum(map(len, frames))


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3, 0.8])
async def all_three_lines_arrive_whole_and_in_order(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall, latency=30)
    # Flows with data, or flows with acknowledgments: the descriptors of one flow keep their order.
    kinds: list[dict[str, Any]] = [{"flow": 1, "mode": AT}, {"flow": 2, "flags": "A", "mode": ASAP}]
    segments = [random_segment(bench.random, **bench.random.choice(kinds)) for _ in range(60)]
    others = [bench.random.randbytes(bench.random.randint(60, 300)) for _ in range(30)]
    bench.send(*segments)
    for frame in others:
        bench.bypass.put(frame)
    lines = [
        [segment.frame() for segment in segments if segment.immediate],
        [segment.frame() for segment in segments if not segment.immediate],
        list(others),
    ]
    for _ in range(90):
        sent = await bench.receive()
        next(line for line in lines if line and line[0] == sent.data).pop(0)
    await bench.quiet()
