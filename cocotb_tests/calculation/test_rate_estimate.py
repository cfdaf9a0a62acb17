# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Westwood's estimates of a rate: the unit is its golden model's, bit for bit, and the model is the papers' equations.

The equations stand below in floating point: the filter of BWE, and ERE with two timers, as ns-2's agent has it. The
figures of the thesis' table 4-1 are those of its free path: 50 Mb/s, 440 ms, segments of 1,040 bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import draws, generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.unit import agrees_with_golden_model
from sim.golden.calculation.rate_estimate import (
    CALCULATOR,
    MAX,
    SECOND,
    SLOTS,
    Estimator,
    Filter,
    Request,
    Response,
    Sliding,
)

SEGMENT = 1040  # bytes
GAP = 166_400  # ns, of a segment at 50 Mb/s
ROUND_TRIP = 440 * 10**6 + GAP
THRESHOLD = 32  # segments
MAX_CLOCKS = 20_000  # clocks of an ACK behind a pause


def test_rate_estimate() -> None:
    run_module("CalculatorRateestimate", __name__)


# ---- the unit


def connection(draw: random.Random) -> Iterator[int]:
    """Requests of one connection: bursts, pauses, round trips that change, and any bits."""
    rtt = draw.choice([draw.randrange(1, 10**6), draw.randrange(10**6, 10**9), MAX])
    minimum, time, cwnd = rtt, draw.getrandbits(48), draw.randrange(1, 1 << 30)
    yield Request(1, time, 0, draw.choice([0, rtt]), rtt, 0).packed()
    for _ in range(draw.choice([1, 5, 40])):
        pause = draw.choice([0, 1, 67, 672, rtt // 8, rtt // 8, rtt // 4, rtt, 3 * rtt, 510 * 10**6, SECOND])
        pause = 33 * SECOND if draw.random() < 0.02 else pause
        time = (time + draw.choice([pause, pause, draw.randrange(pause + 1)])) % (1 << 48)
        rtt = draw.choice([rtt] * 8 + [draw.randrange(minimum, 4 * minimum)])
        cwnd = draw.choice([cwnd, cwnd, draw.randrange(1, 1 << 20)])
        acked = draw.choice([0, 1, 1460, 2920, draw.getrandbits(32)])
        yield Request(0, time, acked, min(rtt, MAX), min(minimum, MAX), cwnd).packed()
    if draw.random() < 0.5:
        yield draw.getrandbits(CALCULATOR.request_bits)


@cocotb.test()
async def unit_agrees_with_the_golden_model(dut: Any) -> None:
    """Connections take turns, on all flows, and flows are used again."""
    draw = generator()
    running: dict[int, Iterator[int]] = {}

    def requests() -> Iterator[tuple[int, int]]:
        for _ in range(draws(150, 3000)):
            flow = draw.randrange(16)
            request = next(running.get(flow, iter(())), None)
            if request is None:
                running[flow] = connection(draw)
                request = next(running[flow])
            yield flow, request

    await agrees_with_golden_model(dut, CALCULATOR, requests(), MAX_CLOCKS)


@cocotb.test()
async def an_ack_of_a_flow_of_data_takes_800_clocks_at_most(dut: Any) -> None:
    """One every 100 us in a round trip of 10 ms: BWE's sample and, as a rule, both of ERE."""
    begin = Request(1, 0, 0, 10**7, 10**7, 100_000)
    acks = (Request(0, number * 10**5, 1460, 10**7, 10**7, 160_000) for number in range(1, 130))
    requests = ((1, request.packed()) for request in (begin, *acks))
    await agrees_with_golden_model(dut, CALCULATOR, requests, max_clocks=800)


# ---- the equations


@dataclass
class FloatFilter:
    """B_k = alpha_k B_{k-1} + (1 - alpha_k) (b_k + b_{k-1}) / 2, alpha_k = (2 tau - dt) / (2 tau + dt); tau = 1 s."""

    rate: float = 0.0
    last: float = 0.0

    def take(self, amount: float, seconds: float) -> None:
        while seconds >= 0.51:  # a sample of zero for tau / 2; what is left below 10 ms is none
            self._step(0.0, 0.5)
            seconds -= 0.5
        seconds = min(seconds, 0.5)
        self._step(amount / seconds, seconds)

    def _step(self, sample: float, seconds: float) -> None:
        alpha = (2 - seconds) / (2 + seconds)
        self.rate = alpha * self.rate + (1 - alpha) * (sample + self.last) / 2
        self.last = sample


class TwoTimers:
    """ERE as the thesis describes it: timer A ends the interval of RE, timer B that of the sample."""

    def __init__(self, now: float, round_trip: float) -> None:
        self.filter, self.achieved = FloatFilter(), 0.0
        self.a_end, self.b_end, self.b_start = now + round_trip, now + round_trip, now
        self.a_length, self.a_acked, self.b_acked = round_trip, 0.0, 0.0
        self.round_trip, self.cwnd, self.minimum = round_trip, 1.0, round_trip

    def ack(self, now: float, acked: float, cwnd: float) -> None:
        self.cwnd = cwnd
        while min(self.a_end, self.b_end) <= now:
            if self.a_end <= self.b_end:
                self.achieved, self.a_acked = self.a_acked / self.a_length, 0.0
                self.a_length = self.round_trip
                self.a_end += self.a_length
            else:
                self._sample(self.b_end)
        self.a_acked += acked
        self.b_acked += acked
        if self.b_end == inf and now > self.b_start:
            self._sample(now)

    def _sample(self, now: float) -> None:
        self.filter.take(self.b_acked, now - self.b_start)
        expected = self.cwnd / self.minimum
        interval = self.round_trip * (expected - self.achieved) / expected
        # The unit's: no interval but zero is shorter than a sixteenth of the round trip.
        self.b_end = now + max(interval, self.round_trip / 16) if interval > 0 else inf
        self.b_start, self.b_acked = now, 0.0


def free_path(which: str, rounds: int) -> Iterator[tuple[float, float]]:
    """e in segments at the first and at the last ACK of each round, while Astart grows the window from one segment."""
    unit = Estimator()
    unit.response(Request(begins=1).packed())
    cwnd, threshold, acks, free, flight = 1.0, float(THRESHOLD), [ROUND_TRIP], 0, 1
    for _ in range(rounds):
        later, seen = [], []
        for now in acks:
            request = Request(0, now, SEGMENT, ROUND_TRIP, ROUND_TRIP, int(cwnd * SEGMENT))
            seen.append(getattr(Response.unpacked(unit.response(request.packed())), which) / SEGMENT)
            threshold = max(threshold, seen[-1])
            cwnd += 1 if cwnd < threshold else 1 / cwnd
            flight -= 1
            while flight < int(cwnd):
                free = max(now, free) + GAP
                later.append(free - GAP + ROUND_TRIP)
                flight += 1
        yield seen[0], seen[-1]
        acks = later


class SlidingSum:
    """ERE as the Astart slides have it (10): all ACKs are kept, and T_k is the equation's."""

    def __init__(self) -> None:
        self.acks: list[tuple[float, float]] = []
        self.rate = self.last = self.before = 0.0

    def ack(self, now: float, acked: float, cwnd: float, round_trip: float, minimum: float) -> None:
        self.acks.append((now, acked))
        gap, self.before = now - self.before, now
        achieved = self.sum(now - round_trip) / round_trip
        expected = cwnd / minimum
        interval = max(round_trip * (expected - achieved) / expected, gap)
        sample, step = self.sum(now - interval) / interval, min(gap, round_trip / 2)
        alpha = (2 * round_trip - step) / (2 * round_trip + step)
        self.rate = alpha * self.rate + (1 - alpha) * (sample + self.last) / 2
        self.last = sample

    def sum(self, begin: float) -> float:
        return sum(acked for at, acked in self.acks if at > begin)


def astart_path(seconds: float, buffer: int) -> Iterator[tuple[float, float, float, float]]:
    """Slide 12: 40 Mb/s, 100 ms, 1,000 bytes, and Astart by the sliding rule. At each ACK: s, cwnd, e and e of the
    float equation, segments."""
    unit, reference = Estimator(), SlidingSum()
    unit.response(Request(begins=1).packed())
    gap, delay, size = 200_000, 100 * 10**6, 1000
    cwnd, threshold, free, minimum = 2.0, float(THRESHOLD), 0, MAX
    flights = [(delay + gap * number, 0) for number in (1, 2)]
    while flights and flights[0][0] < seconds * SECOND:
        now, sent = flights.pop(0)
        rtt = now - sent
        minimum = min(minimum, rtt)
        window = int(cwnd * size)
        found = Response.unpacked(unit.response(Request(0, now, size, rtt, minimum, window).packed())).sliding / size
        reference.acks = [ack for ack in reference.acks if ack[0] > (now - 2 * rtt) / SECOND]
        reference.ack(now / SECOND, size, window, rtt / SECOND, minimum / SECOND)
        threshold = max(threshold, found)
        cwnd += 1 if cwnd < threshold else 1 / cwnd
        while len(flights) < int(cwnd):
            free = max(now, free) + gap
            assert free - now < (buffer + 1) * gap, "nothing is lost"
            flights.append((free + delay, now))
        yield now / SECOND, cwnd, found, reference.rate * minimum / SECOND / size


@pytest.mark.parametrize("buffer", [500, 125])
def test_sliding_ere_takes_astart_to_the_product_of_slide_12(buffer: int) -> None:
    """Slide 12 (c): 456, 486, 504 and 520 segments after 1.6, 1.8, 2.0 and 2.2 s, read from an axis."""
    course = list(astart_path(2.3, buffer))
    windows = [next(cwnd for at, cwnd, *_ in course if at >= mark) for mark in (1.6, 1.8, 2.0, 2.2)]
    assert windows == pytest.approx([456, 486, 504, 520], rel=0.06)
    # Slots round T_k up, which is worth most while the window doubles and ACKs come in bursts.
    assert all(found == pytest.approx(right, rel=0.12) for at, _, found, right in course if at > 0.9)
    assert all(found == pytest.approx(right, rel=0.05) for at, _, found, right in course if at > 1.2)


def test_the_sum_that_slides_is_exact_over_less_than_a_slot_more() -> None:
    draw, time = random.Random(1), 10**9
    model, acks, rtt = Sliding(), list[tuple[int, int]](), 10**8
    for _ in range(3000):
        gap = draw.choice([0, 1, 10**4, 10**6, draw.randrange(10**7), draw.randrange(4 * 10**8)])
        time, acked = time + gap, draw.randrange(3000)
        acks = [ack for ack in acks if ack[0] > time - 3 * rtt] + [(time, acked)]
        model.take(Request(0, time, acked, rtt, rtt, 10**6), acked, gap)
        for span in (draw.randrange(1, rtt), rtt):
            counted, period = model.over(time, span)
            assert counted == sum(size for at, size in acks if at >= time - period)
            assert span <= period < span + model.length or span > period >= (SLOTS - 1) * model.length
    assert rtt / 16 < model.length <= rtt / 8


def test_a_sample_of_the_sliding_rule_lasts_from_one_interval_of_acks_to_a_round_trip() -> None:
    model, rtt = Sliding(), 10**8
    for number in range(1000):
        model.take(Request(0, 10**6 * number, 1000, rtt, rtt, 100_000), 1000, 10**6)
    # RE is a segment each ms, so 100 in R.
    for cwnd, span in ((50_000, 0), (100_000, 0), (200_000, rtt / 2), (10**9, rtt)):
        request = Request(0, 999 * 10**6, 0, rtt, rtt, cwnd)
        assert model.span(request) == pytest.approx(span, abs=0.02 * rtt)


def test_bwe_on_the_free_path_is_what_the_filter_gives() -> None:
    """Vector `bwe41` of the specification, from the equation in floating point; cwnd reaches 32 in the fifth round.

    Yu, table 4-1: BWE 1027.7 segments at 200 Mb/s and 1071.3 at 400.
    """
    rounds = list(free_path("bwe", 7))
    expected = [(0.18, 0.18), (0.48, 0.70), (477.63, 478.50), (782.92, 784.87), (978.63, 982.57)]
    expected += [(1104.86, 1112.56), (1187.79, 1202.77)]
    for found, right in zip(rounds, expected, strict=True):
        assert found == pytest.approx(right, abs=0.03)


def test_ere_on_the_free_path_is_that_of_table_4_1() -> None:
    """Yu, table 4-1: 19.4 segments at 200 Mb/s, 19.5 at 400, three to four rounds after cwnd has reached 32.

    The phase of the agent's timers is worth 30 %.
    """
    rounds = [first for first, _ in free_path("ere", 10)]
    timers = [0.0, 0.2, 0.7, 1.5, 4.2, 6.1, 15.3, 15.0, 21.8, 23.4]  # the specification's, by timers
    assert rounds[1:] == pytest.approx(timers[1:], rel=0.4)
    assert 19.4 * 0.7 < rounds[7] < rounds[8] < 19.5 * 1.3


def test_an_interval_that_is_short_is_no_single_ack() -> None:
    """Else the first ACK behind a pause would be a sample at the line's rate, and ERE hundreds of segments."""
    assert max(last for _, last in free_path("ere", 12)) < THRESHOLD


@pytest.mark.parametrize("spread", [1, 4, 16])
def test_ere_without_timers_is_ere_with_two_timers(spread: int) -> None:
    """Windows of ACKs at the line's rate or spread over the round trip, while the window grows."""
    draw = random.Random(spread)
    unit, reference = Estimator(), TwoTimers(0.0, ROUND_TRIP / SECOND)
    unit.response(Request(1, 0, SEGMENT, ROUND_TRIP, ROUND_TRIP, SEGMENT).packed())
    reference.ack(0.0, SEGMENT, SEGMENT)
    cwnd = 2
    for number in range(1, 30):
        begin = number * ROUND_TRIP
        for ack in range(cwnd):
            now = begin + ack * GAP * spread + draw.randrange(1, GAP)
            request = Request(0, now, SEGMENT, ROUND_TRIP, ROUND_TRIP, cwnd * SEGMENT)
            found = Response.unpacked(unit.response(request.packed())).ere
            reference.ack(now / SECOND, SEGMENT, cwnd * SEGMENT)
            assert found == pytest.approx(reference.filter.rate * ROUND_TRIP / SECOND, rel=1e-3, abs=4)
        cwnd = min(2 * cwnd, 100) + draw.randrange(2)


def test_the_filter_is_the_equation_s() -> None:
    draw = random.Random(1)
    for _ in range(200):
        model, reference = Filter(), FloatFilter()
        for _ in range(30):
            seconds = draw.choice([1e-6, 1e-4, 0.01, 0.1, 0.5, 0.505, 0.6, 3.0])
            amount = draw.choice([0, 1040, 2080, 10**6])
            if amount / min(seconds, 0.01) > MAX:
                continue
            model.take(amount, round(seconds * SECOND))
            reference.take(amount, seconds)
            assert model.rate == pytest.approx(reference.rate, rel=1e-6, abs=8)


# The specification's vectors `bwe` (tau = 1 s; ns and bytes here, bits/s there).
def test_the_filter_follows_the_vectors() -> None:
    model, given = Filter(), []
    for seconds, bits in [(0.1, 8320), (0.1, 8320), (0.05, 8320), (0.01, 16640), (0.5, 8320), (1.2, 8320), (0.1, 8320)]:
        model.take(bits // 8, round(seconds * SECOND))
        given.append(8 * model.rate)
    right = [3961.90, 11508.39, 17034.81, 25971.78, 351711.07, 109010.46, 104571.37]
    assert given == pytest.approx(right, abs=20)


def test_silence_leaves_nothing() -> None:
    model = Filter(MAX, MAX)
    model.take(1000, 32 * SECOND + 1)
    assert (model.rate, model.last) == (1000 * SECOND // (2 * SECOND + SECOND // 2), 2000)


@pytest.mark.parametrize(
    ("rtt", "cwnd", "achieved", "interval"),
    # Vectors `ere` of the specification; there RE in bytes/s: 30000, 37818, 300000 and 472727.
    [
        (440_000_000, 16640, 13200, 90_957_000),
        (440_000_000, 16640, 16640, 0),
        (600_000_000, 208_000, 132_000, 219_230_000),
        (600_000_000, 208_000, 208_000, 0),
    ],
)
def test_t_k_is_the_equation_s(rtt: int, cwnd: int, achieved: int, interval: int) -> None:
    unit = Estimator()
    unit.response(Request(1, 0, achieved, rtt, 440_000_000, cwnd).packed())
    # A round trip has acknowledged so much that RE RTTmin is `achieved`.
    unit.eligible.a_acked = -(-achieved * rtt // 440_000_000)
    unit.response(Request(0, rtt, 0, rtt, 440_000_000, cwnd).packed())
    assert unit.eligible.achieved == pytest.approx(achieved, abs=1)
    assert unit.eligible.b_length == pytest.approx(interval, abs=rtt // cwnd + 1)
