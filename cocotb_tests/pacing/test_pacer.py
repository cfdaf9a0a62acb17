# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The pacer's bookings: whose comes when, what replaces what, and none is granted early or forgotten."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import clocks, generator, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.pacing.pacer_bench import FLOWS, LAUNCH_BITS, LEAD, Bench
from cocotb_tests.pacing.pacing_model import LAUNCH_FRACTION, spacing
from cocotb_tests.pacing.virtual_time import HOUR, WRAP

LARGEST_SPACING = (1 << 56) - 1
LARGEST_LENGTH = (1 << 14) - 1
AT, ASAP, AFTER_PREVIOUS = range(3)  # LaunchMode


def test_pacer() -> None:
    run_module("Pacer", __name__, random_power_up=True)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.6])
async def grants_come_a_lead_ahead_each_with_its_launch(dut: Any, stall: float) -> None:
    bench = Bench(dut, stall=stall)
    await bench.start()
    draw = bench.random
    for flow in range(FLOWS):
        bench.book(flow, draw.randrange(1, 1 << 40), first=True)
    for _ in range(500):
        await bench.quiet()
        granted = bench.check_granted()
        if not granted and draw.random() < 0.2:  # later than asked
            later = draw.choice([1, 1000, 10**6, HOUR, 5 * HOUR])
            bench.time.set(bench.time.ns + later, draw.getrandbits(16))
            continue
        granted = granted or await bench.to_next()
        for flow in granted:
            bits = draw.choice([20, 30, 35, 44, 56])
            bench.book(flow, draw.randrange(1, 1 << bits), draw.randrange(1 << 14), first=draw.random() < 0.05)


@cocotb.test()
async def a_pause_earns_no_burst(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.book(2, spacing(10**9), first=True)
    await bench.quiet()
    bench.check_granted()
    bench.time.set(bench.time.ns + 10**9, 12345)
    for _ in range(3):
        departure = bench.book(2, spacing(10**9), 1460)
        assert departure >= bench.now + LEAD
        await bench.quiet()
        bench.check_granted() or await bench.to_next()
    assert departure == 10**9 + LEAD + Fraction(12345, LAUNCH_FRACTION) + 2 * 8 * 1460 + (WRAP - 20 * HOUR)


@cocotb.test()
async def a_flow_that_was_silent_for_days_is_not_taken_for_one_of_tomorrow(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for flow in range(4):
        bench.book(flow, spacing(10**9), first=True)
    await bench.quiet()
    assert len(bench.check_granted()) == 4
    for flow in range(4):  # 35, 70, 105, 140 hours later
        bench.time.set(bench.time.ns + 35 * HOUR)
        await bench.time.quiet()
        bench.book(flow, spacing(10**9), 1460)
        await bench.quiet()
        assert bench.check_granted() == [flow]


@cocotb.test()
async def the_first_booking_forgets_the_connection_before(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.book(7, spacing(1000), first=True)
    await bench.quiet()
    bench.check_granted()
    bench.book(7, spacing(1000), 1460)  # 11 s away
    await bench.quiet()
    assert not bench.check_granted()
    bench.book(7, spacing(1000), 1460, first=True)
    await bench.quiet()
    assert bench.check_granted() == [7]
    await bench.quiet()
    assert bench.time.next() is None


@cocotb.test()
async def a_booking_replaces_the_flows_earlier_one_and_counts_from_the_same_segment(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for flow in range(FLOWS):
        bench.book(flow, spacing(10**6), first=True)
    await bench.quiet()
    bench.check_granted()
    for _ in range(60):
        for _ in range(bench.random.randrange(1, 4)):
            flow = bench.random.randrange(FLOWS)
            if bench.waiting.get(flow, bench.now + HOUR) // 1 <= bench.time.ns + LEAD:
                continue  # its grant is on its way
            bench.book(flow, spacing(bench.random.randrange(10**6, 10**9)), bench.random.randrange(1 << 14))
            await clocks(dut, bench.random.randrange(30))
        await bench.quiet()
        bench.check_granted()
        if bench.waiting:
            await bench.to_next()


@cocotb.test()
async def a_booking_made_as_the_former_is_granted_is_not_lost(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    rate = spacing(10**9)
    for offset in range(60):
        bench.book(9, rate, first=True)
        await bench.quiet()
        bench.check_granted()
        departure = bench.book(9, rate, 1460)
        await bench.quiet()
        bench.time.set(departure // 1 - LEAD)
        await clocks(dut, offset)
        former = bench.generations[9]
        newer = bench.generations[9] = (former + 1) % 256
        bench.book(9, rate, 1460)
        await bench.quiet()
        while await bench.time.jump():
            pass
        assert [beat["reference_generation"] for beat in bench.sink.pending()] in ([former, newer], [newer])
        bench.waiting.clear()


@cocotb.test()
async def an_unpaced_flow_is_granted_at_once_to_depart_now(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for _ in range(20):
        bench.time.set(bench.time.ns + bench.random.randrange(1, 10**6), bench.random.getrandbits(16))
        flow = bench.random.randrange(FLOWS)
        bench.book(flow, 0, 1460, first=bench.random.random() < 0.2)
        await RisingEdge(dut.clk)  # here the booking is driven
        await until(dut, lambda: dut.grants_valid.value == 1, "the grant", 10)
        await bench.quiet()
        assert bench.check_granted() == [flow]


@cocotb.test()
async def pacing_takes_over_from_the_last_unpaced_departure(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.time.set(bench.time.ns + 1, 77)
    bench.book(4, 0, first=True)
    await bench.quiet()
    bench.check_granted()
    departed = bench.now
    assert bench.book(4, spacing(10**9), 1460) == departed + 8 * 1460
    await bench.quiet()
    assert not bench.check_granted()
    await bench.to_next()
    # And back: a paced booking that waits gives way to an unpaced one.
    bench.book(4, spacing(10**6), 1460)
    await bench.quiet()
    assert not bench.check_granted()
    bench.book(4, 0, 1460)
    await bench.quiet()
    assert bench.check_granted() == [4]
    assert bench.time.next() is None


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.8])
async def every_flow_may_book_in_successive_clocks(dut: Any, stall: float) -> None:
    bench = Bench(dut, stall=stall)
    await bench.start()
    for _ in range(40):
        for flow in bench.random.sample(range(FLOWS), FLOWS):
            rate = bench.random.choice([0, 10**9, 10**10])
            bench.book(flow, spacing(rate) if rate else 0, 100, first=True)
        await bench.quiet()
        assert len(bench.check_granted()) == FLOWS


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def running_time_sees_no_grant_early_and_each_flow_at_its_rate(dut: Any, stall: float) -> None:
    bench = Bench(dut, at=WRAP - 100_000, stall=stall)
    await bench.start()
    cocotb.start_soon(bench.time.run(generator(), 17))
    lengths = dict.fromkeys(range(FLOWS), 0)
    launches: dict[int, int] = {}
    rates = {flow: spacing(bench.random.randrange(10**8, 10**9)) for flow in range(FLOWS)}
    for flow in range(FLOWS):
        bench.book(flow, rates[flow], first=True)
    for _ in range(600):
        beat = await bench.sink.receive()
        flow = beat["reference_flow"]
        at = beat["launch_ns"] << 16 | beat["launch_fraction"]
        ahead = (at - (bench.time.ns + LEAD << 16)) % (1 << LAUNCH_BITS)
        assert ahead >= 1 << (LAUNCH_BITS - 1) or ahead <= LAUNCH_FRACTION, "granted more than a lead ahead"
        if flow in launches:
            gap = (at - launches[flow]) % (1 << LAUNCH_BITS)
            wanted = Fraction(lengths[flow] * rates[flow], 1 << 16)
            assert wanted - 1 < gap < wanted + 1, "either launch is rounded up by less than one unit"
        launches[flow] = at
        lengths[flow] = bench.random.randrange(700, 1461)  # 5.6 us at the least: the loop hides in it
        bench.book(flow, rates[flow], lengths[flow])
