# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A stamp comes back with the flow and the end of the segment that it belongs to, or not at all."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import clocks
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.tx.segment import ASAP, AT, Segment, random_segment
from cocotb_tests.tx.transmitter import Transmitter

ENTRIES = 64
BYTE_TIME = 8  # ns, of 1 Gb/s


@each_width
def test_departure_tags(width: int) -> None:
    run_width("Transmitter", __name__, width, verilator_args=["--public-flat-rw"])


def stamped(bench: Transmitter, **fixed: object) -> Segment:
    return random_segment(bench.random, **({"flags": "PA", "length": 30, "mode": AT, "stamped": True} | fixed))


async def send_all(bench: Transmitter, segments: list[Segment]) -> list[int]:
    """Their tags."""
    bench.send(*segments)
    return [(await bench.expect(segment)).tag for segment in segments]


def depart(bench: Transmitter, tag: int) -> tuple[int, int]:
    ns, fraction = bench.random.getrandbits(48), bench.random.getrandbits(16)
    bench.departures.put({"tag": tag, "stamp_ns": ns, "stamp_fraction": fraction})
    return ns, fraction


async def expect_departed(bench: Transmitter, segment: Segment, stamp: tuple[int, int]) -> None:
    after = (stamp[0] - segment.launch[0]) % (1 << 32)
    assert await bench.departed.receive() == {
        "reference_flow": segment.flow,
        "reference_generation": segment.generation,
        "end_value": segment.end,
        "stamp_ns": stamp[0],
        "stamp_fraction": stamp[1],
        "late": int(segment.mode == AT and BYTE_TIME < after < 1 << 31),
    }


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def a_stamp_returns_with_flow_and_end(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall)
    segments = [stamped(bench, length=bench.random.randint(1, 40)) for _ in range(40)]
    tags = await send_all(bench, segments)
    assert 0 not in tags
    assert len(set(tags)) == len(tags)
    for segment, tag in zip(segments, tags, strict=True):
        await expect_departed(bench, segment, depart(bench, tag))
    assert int(dut.staleStamps.value) == 0


@cocotb.test()
@cocotb.parametrize(mode=[AT, ASAP])
async def a_departure_more_than_a_byte_time_after_its_launch_is_late(dut: Any, mode: int) -> None:
    bench = await Transmitter.create(dut)
    offsets = (0, 1, 7, 8, 9, 1000, 1 << 30, -1, -1000)
    segments = [stamped(bench, mode=mode) for _ in offsets]
    for segment, tag, offset in zip(segments, await send_all(bench, segments), offsets, strict=True):
        stamp = (segment.launch[0] + offset) % (1 << 48)
        bench.departures.put({"tag": tag, "stamp_ns": stamp, "stamp_fraction": 0})
        beat = await bench.departed.receive()
        assert beat["late"] == (mode == AT and offset > BYTE_TIME)


@cocotb.test()
async def syn_and_fin_count_in_the_end(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    kinds = [("S", 0), ("SA", 0), ("FA", 0), ("FPA", 7), ("PA", 7)]
    segments = [stamped(bench, flags=flags, length=length, sequence=0xFFFF_FFFC) for flags, length in kinds]
    for segment, tag in zip(segments, await send_all(bench, segments), strict=True):
        await expect_departed(bench, segment, depart(bench, tag))


@cocotb.test()
async def a_stale_or_unknown_tag_is_counted_and_dropped(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    for tag in (0, 1, 63, 64, 0xFFFF):
        depart(bench, tag)
    await clocks(dut, 30)
    assert int(dut.staleStamps.value) == 5
    segments = [stamped(bench) for _ in range(ENTRIES + 1)]
    tags = await send_all(bench, segments)
    depart(bench, tags[0])
    for segment, tag in list(zip(segments, tags, strict=True))[1:]:
        await expect_departed(bench, segment, depart(bench, tag))
    assert int(dut.staleStamps.value) == 6
    assert int(dut.droppedStamps.value) == 0


@cocotb.test()
async def no_tag_is_zero_when_they_start_again(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    dut.tags.tag.value = 0xFFFE
    segments = [stamped(bench) for _ in range(4)]
    tags = await send_all(bench, segments)
    assert tags == [0xFFFE, 0xFFFF, 64, 65]
    for segment, tag in zip(segments, tags, strict=True):
        await expect_departed(bench, segment, depart(bench, tag))


@cocotb.test()
async def stamps_without_space_are_counted_and_stall_nothing(dut: Any) -> None:
    bench = await Transmitter.create(dut)
    bench.departed.stall = 1
    segments = [stamped(bench) for _ in range(30)]
    tags = await send_all(bench, segments)
    stamps = [depart(bench, tag) for tag in tags]
    await bench.departures.drained()
    await clocks(dut, 10)
    dropped = int(dut.droppedStamps.value)
    assert 0 < dropped <= 14
    bench.departed.stall = 0
    for segment, stamp in list(zip(segments, stamps, strict=True))[: 30 - dropped]:
        await expect_departed(bench, segment, stamp)
    await bench.quiet()
