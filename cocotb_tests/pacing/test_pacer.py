# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The pacer: departures are exact however long a connection lasts, and none is granted early or forgotten."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import StreamSink, StreamSource, bounded, clocks, generator, start, until
from cocotb_tests.bench.runner import run_room
from cocotb_tests.pacing.pacing_model import LAUNCH_FRACTION, PacedFlow, launch, spacing
from cocotb_tests.pacing.virtual_time import HOUR, WRAP, VirtualTime

FLOWS = 16
LEAD = 4000  # ns, the default of DownbeatConfig.grantLead
LAUNCH_BITS = 64
LARGEST_SPACING = (1 << 56) - 1
LARGEST_LENGTH = (1 << 14) - 1
AT, ASAP, AFTER_PREVIOUS = range(3)  # LaunchMode


def test_pacer() -> None:
    run_room("Pacer", __name__, verilator_args=["--x-initial", "unique"])


class Bench:
    def __init__(self, dut: Any, *, at: int = WRAP - 20 * HOUR, stall: float = 0.0) -> None:
        self.dut = dut
        self.random: random.Random = generator()
        self.time = VirtualTime(dut, at)
        self.source = StreamSource(dut, "bookings")
        self.sink = StreamSink(dut, "grants", stall=stall)
        self.flows = [PacedFlow(LEAD) for _ in range(FLOWS)]
        self.generations = [0] * FLOWS
        self.waiting: dict[int, Fraction] = {}  # flow to departure
        self.modes: list[int] = []  # how the frames of the grants leave

    async def start(self) -> None:
        await start(self.dut, **self.time.inputs)
        await self.time.quiet()
        assert self.time.next() is None

    @property
    def now(self) -> Fraction:
        return self.time.ns + Fraction(self.time.fraction, LAUNCH_FRACTION)

    def book(self, flow: int, spacing: int, previous_length: int = 0, *, first: bool = False) -> Fraction:
        """Books at the `now` that stands; it must stand until the room is quiet."""
        if first:
            self.generations[flow] = (self.generations[flow] + 1) % 256
        self.source.put(
            {
                "reference_flow": flow,
                "reference_generation": self.generations[flow],
                "first": int(first),
                "paced": int(spacing != 0),
                "interval": spacing,
                "perByte": 1,
                "previousLength": previous_length,
                "adjacent": 0,
                "burst": 0,
            }
        )
        self.waiting[flow] = self.flows[flow].book(self.now, spacing, previous_length, first=first)
        return self.waiting[flow]

    def apart(self, flow: int, interval: int, *, burst: int = 0, adjacent: bool = False) -> Fraction:
        """Books at an interval, ns with 16 fraction bits, whatever the length of the segment before."""
        self.source.put(
            {
                "reference_flow": flow,
                "reference_generation": self.generations[flow],
                "first": 0,
                "paced": 1,
                "interval": interval,
                "perByte": 0,
                "previousLength": self.random.randrange(1 << 14),
                "adjacent": int(adjacent),
                "burst": burst,
            }
        )
        self.waiting[flow] = self.flows[flow].apart(self.now, Fraction(interval, LAUNCH_FRACTION), burst=burst)
        return self.waiting[flow]

    async def quiet(self) -> None:
        await self.source.drained(100_000)
        await self.time.quiet()

    def check_granted(self) -> list[int]:
        """What is due within the lead has come, once each with its launch, and nothing else; gives its flows."""
        due = {flow: at for flow, at in self.waiting.items() if at // 1 <= self.time.ns + LEAD}
        came = self.sink.pending()
        assert sorted(beat["reference_flow"] for beat in came) == sorted(due)
        for beat in came:
            flow = beat["reference_flow"]
            assert beat["reference_generation"] == self.generations[flow]
            shown = beat["launch_ns"] << 16 | beat["launch_fraction"]
            assert shown == launch(due[flow]) % (1 << LAUNCH_BITS)
            self.modes.append(beat["mode"])
            self.flows[flow].granted()
            del self.waiting[flow]
        return list(due)

    async def to_next(self) -> list[int]:
        """Jumps to what the room says is next: the earliest grant, neither early nor late."""
        assert self.time.next() == min(at // 1 for at in self.waiting.values()) - LEAD
        assert await self.time.jump()
        granted = self.check_granted()
        assert granted
        return granted


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
