# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The transmitter for frames of 9,018 bytes."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.simtime import get_sim_time

from cocotb_tests.bench import CLOCK_NS
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.tx.segment import AT, random_segment
from cocotb_tests.tx.transmitter import Transmitter

MSS = 8960


@each_width
def test_transmitter_jumbo(width: int) -> None:
    run_width("TransmitterJumbo", __name__, width)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.3])
async def jumbo_payload_is_byte_exact(dut: Any, stall: float) -> None:
    bench = await Transmitter.create(dut, stall=stall, mss=MSS)
    lengths = [MSS, 0, 1, *range(MSS - 7, MSS)][: 10 if stall == 0 else 4]
    segments = [random_segment(bench.random, flags="PA", length=length, mode=AT) for length in lengths]
    bench.send(*segments)
    for segment in segments:
        await bench.expect(segment)
    await bench.quiet()


@cocotb.test()
async def a_syn_offers_the_jumbo_mss(dut: Any) -> None:
    bench = await Transmitter.create(dut, mss=MSS)
    segment = random_segment(bench.random, flags="S", length=0)
    bench.send(segment)
    await bench.expect(segment)


@cocotb.test()
async def full_jumbo_segments_follow_each_other_without_a_gap(dut: Any) -> None:
    bench = await Transmitter.create(dut, latency=60, mss=MSS)
    segments = [random_segment(bench.random, flags="PA", length=MSS, mode=AT) for _ in range(4)]
    bench.send(*segments)
    ends = []
    for segment in segments:
        await bench.expect(segment)
        ends.append(get_sim_time("ns") / CLOCK_NS)
    assert (ends[-1] - ends[0]) / 3 <= -(-(MSS + 54) // bench.width) + 2
