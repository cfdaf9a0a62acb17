# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The pacer's intervals: departures are exact however long a connection lasts, and a bucket holds what it should."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import bounded
from cocotb_tests.bench.runner import run_module
from cocotb_tests.pacing.pacer_bench import LAUNCH_BITS, LEAD, Bench
from cocotb_tests.pacing.pacing_model import launch, spacing
from cocotb_tests.pacing.virtual_time import HOUR, WRAP

LARGEST_SPACING = (1 << 56) - 1
LARGEST_LENGTH = (1 << 14) - 1
AT, ASAP, AFTER_PREVIOUS = range(3)  # LaunchMode


def test_pacer_intervals() -> None:
    run_module("Pacer", __name__, random_power_up=True)


def test_pacer_intervals_of_an_engine_for_small_devices() -> None:
    """Bookings are eight clocks apart: a node's registers keep what they have until the next one."""
    run_module("PacerSpaced", __name__, random_power_up=True)


@cocotb.test()
@cocotb.parametrize(rate=[999_999_937, 1_234_567, 99_999_999_977])  # bits a second
async def ten_thousand_segments_at_an_odd_rate_drift_by_nothing(dut: Any, rate: int) -> None:
    bench = Bench(dut, at=WRAP - 10**6)
    await bench.start()
    begun = bench.book(5, spacing(rate), first=True)
    await bench.quiet()
    bench.check_granted()
    await bounded(_ten_thousand(bench, begun, spacing(rate)), "ten thousand segments", 1_000_000)


async def _ten_thousand(bench: Bench, begun: Fraction, spacing: int) -> None:
    """Drives the ports itself and wakes by signals, not by clocks, for the sake of its time."""
    dut, octets = bench.dut, 0
    dut.bookings_payload_reference_flow.value = 5
    dut.bookings_payload_first.value = 0
    dut.bookings_payload_paced.value = 1
    dut.bookings_payload_perByte.value = 1
    dut.bookings_payload_adjacent.value = 0
    dut.bookings_payload_burst.value = 0
    dut.bookings_payload_interval.value = spacing
    for _ in range(10_000):
        length = bench.random.choice([1447, 1460, 8960])
        octets += length
        dut.bookings_payload_previousLength.value = length
        dut.bookings_valid.value = 1
        await RisingEdge(dut.clk)
        dut.bookings_valid.value = 0
        await RisingEdge(dut.idle)
        # The sum is rounded nowhere: the schedule's own recurrence cannot hide a drift.
        departure = begun + octets * Fraction(spacing, 1 << 32)
        assert bench.time.next() == departure // 1 - LEAD
        bench.time.set(departure // 1 - LEAD)
        await RisingEdge(dut.grants_valid)
        shown = int(dut.grants_payload_launch_ns.value) << 16 | int(dut.grants_payload_launch_fraction.value)
        assert shown == launch(departure) % (1 << LAUNCH_BITS)


@cocotb.test()
async def an_interval_counts_whatever_the_length(dut: Any) -> None:
    """To 2^-16 ns, up to 10 s and more; zero is right behind, and its frame too if so booked."""
    bench = Bench(dut)
    await bench.start()
    bench.book(3, spacing(10**9), first=True)
    await bench.quiet()
    bench.check_granted()
    for interval in (4001 << 16 | 1, 12_345_678_901, 10**10 << 16 | 0xFFFF, (1 << 56) - 1):
        bench.apart(3, interval)
        await bench.quiet()
        assert not bench.check_granted()
        await bench.to_next()
    bench.apart(3, 0, adjacent=True)
    await bench.quiet()
    assert bench.check_granted() == [3]
    assert bench.modes == [AT] * 5 + [AFTER_PREVIOUS]


@cocotb.test()
@cocotb.parametrize(burst=[0, 1, 2, 3])
async def a_pause_earns_a_bucket_of_segments_and_no_more(dut: Any, burst: int) -> None:
    """Token bucket: 2^burst segments leave at once, the next an interval behind the last of them, counted exactly."""
    bench = Bench(dut)
    await bench.start()
    interval = 123_456_789  # 1.9 us
    bench.book(6, spacing(10**9), first=True)
    await bench.quiet()
    bench.check_granted()
    for pause in (10**9, 3 * HOUR, 4_000):
        bench.time.set(bench.time.ns + pause, 4321)
        bench.modes.clear()
        at_once = 0
        for _ in range(12):
            bench.apart(6, interval, burst=burst)
            await bench.quiet()
            if bench.check_granted():
                at_once += 1
            else:
                await bench.to_next()
        if pause > HOUR or pause == 10**9:
            assert at_once == 2**burst
            assert bench.modes == [ASAP] * (2**burst - 1) + [AT] * (12 - 2**burst + 1)


@cocotb.test()
async def buckets_follow_the_exact_model_under_random_pauses(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    draw = bench.random
    bench.book(1, spacing(10**9), first=True)
    await bench.quiet()
    bench.check_granted()
    for _ in range(300):
        bench.apart(1, draw.getrandbits(draw.choice([20, 30, 40])), burst=draw.randrange(4))
        await bench.quiet()
        bench.check_granted() or await bench.to_next()
        if draw.random() < 0.3:
            bench.time.set(bench.time.ns + draw.choice([10, 10**4, 10**7]), draw.getrandbits(16))


@cocotb.test()
async def the_slowest_rate_and_the_longest_segment_do_not_overflow(dut: Any) -> None:
    bench = Bench(dut, at=WRAP - 300 * 10**9)
    await bench.start()
    bench.book(3, LARGEST_SPACING, first=True)
    await bench.quiet()
    bench.check_granted()
    for _ in range(4):
        bench.book(3, LARGEST_SPACING, LARGEST_LENGTH)
        await bench.quiet()
        assert not bench.check_granted()
        await bench.to_next()
