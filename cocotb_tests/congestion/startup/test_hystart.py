# SPDX-License-Identifier: BSD-2-Clause-Patent
"""HyStart++: the RTL is its golden model's, bit for bit, and the golden model does what RFC 9406 says with sequence
numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import inf
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, ProbeAck, Window, of_bytes
from sim.golden.congestion.startup.hystart import POLICY, HystartState

SMSS = 1460
MILLISECOND = 1_000_000
IW = 10


def test_hystart() -> None:
    run_module("PolicyHystart", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Rounds about to end, round trips about the thresholds, CSS about to be over."""
    last = draw.randrange(1, 300) * MILLISECOND
    threshold = last + min(max(last // 8, 4 * MILLISECOND), 16 * MILLISECOND)
    return HystartState(
        left=(event.acked_bytes + draw.randint(-1, 1)) % (1 << 32),
        current_round_min_rtt=threshold + draw.randint(-1, 1),
        last_round_min_rtt=last,
        css_baseline_min_rtt=threshold + draw.randint(-1, 1),
        rtt_sample_count=draw.choice([0, 6, 7, 7, 8]),
        probes=draw.choice([0, 22, 23, 23, 24]),
        css_rounds=draw.randint(3, 4),
        conservative=draw.random() < 0.7,
    ).packed()


@dataclass
class Rfc9406:
    """Section 4.2, by its names, in floats."""

    cwnd: float = IW * SMSS
    ssthresh: float = inf
    una: int = 0
    window_end: int = IW * SMSS
    current_round_min_rtt: float = inf
    last_round_min_rtt: float = inf
    css_baseline_min_rtt: float = inf
    css: bool = False
    rtt_sample_count: int = 0
    css_round: int = 0

    def ack(self, number: int, snd_nxt: int, rtt: float | None) -> None:
        acked, self.una = number - self.una, number
        self.cwnd += min(acked, 8 * SMSS) / (4 if self.css else 1)
        if rtt is not None:
            self.current_round_min_rtt = min(self.current_round_min_rtt, rtt)
            self.rtt_sample_count += 1
        if self.rtt_sample_count < 8:
            pass
        elif self.css:
            if self.current_round_min_rtt < self.css_baseline_min_rtt:
                self.css = False
        elif self.current_round_min_rtt < inf and self.last_round_min_rtt < inf:
            threshold = max(4e6, min(self.last_round_min_rtt / 8, 16e6))
            if self.current_round_min_rtt >= self.last_round_min_rtt + threshold:
                self.css, self.css_round = True, 0
                self.css_baseline_min_rtt = self.current_round_min_rtt
        if number >= self.window_end:
            self.css_round += self.css
            if self.css and self.css_round == 5:
                self.ssthresh = self.cwnd
            self.window_end = snd_nxt
            self.last_round_min_rtt, self.current_round_min_rtt = self.current_round_min_rtt, inf
            self.rtt_sample_count = 0


def opened() -> PolicyResult:
    event = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=IW, initial_ssthresh=1 << 30)
    return POLICY.respond(event, Window(0, 0), 0)


def acknowledge(state: PolicyResult, acked: int, flight: int, rtt: int | None) -> PolicyResult:
    starting = state.window.cwnd < state.window.ssthresh
    event = CongestionEvent(
        Kind.ACKNOWLEDGED,
        starting_up=starting,
        acked_bytes=acked,
        flight=flight,
        probe=None if rtt is None else ProbeAck(begins=True, round_trip=rtt),
        segment_size=SMSS,
    )
    return POLICY.respond(event, state.window, state.policy_state)


@pytest.mark.parametrize("base", [2, 20, 40, 100, 200, 400])
@pytest.mark.parametrize("seed", range(5))
def test_each_ack_leaves_the_window_of_rfc_9406(base: int, seed: int) -> None:
    draw = random.Random(seed)
    state, rfc, nxt, delay = opened(), Rfc9406(), IW * SMSS, 0.0
    conservative = resumed = acks = 0
    while rfc.ssthresh == inf and rfc.cwnd < 1 << 29:
        acked = min(draw.choice([1, 2, 2, 3, 12]) * SMSS, nxt - rfc.una - 1)
        delay = max(0.0, delay + draw.uniform(-3.0, 3.3) * MILLISECOND)
        # Multiples of 8 ns: an eighth of a round trip is whole.
        rtt = round((base * MILLISECOND + delay) / 8) * 8 if draw.random() < 0.8 else None
        state = acknowledge(state, acked, nxt - rfc.una, rtt)
        was = rfc.css
        rfc.ack(rfc.una + acked, nxt, rtt)
        conservative, resumed, acks = conservative + (rfc.css > was), resumed + (rfc.css < was), acks + 1
        assert state.window.cwnd == rfc.cwnd * of_bytes(1)
        assert (state.window.ssthresh == state.window.cwnd) == (rfc.ssthresh == rfc.cwnd)
        nxt = rfc.una + int(rfc.cwnd)
    assert rfc.ssthresh < inf and conservative > 0, f"{conservative} times conservative, {resumed} resumed, {acks} ACKs"


def rounds(state: PolicyResult, rtts: list[int]) -> list[int]:
    """Segments that each round adds; each ACK is of a segment, and a sample (ms)."""
    added, una, nxt = [], 0, state.window.cwnd // of_bytes(1)
    for rtt in rtts:
        before, window_end = state.window.cwnd, nxt
        while una < window_end:
            nxt = una + state.window.cwnd // of_bytes(1)
            acked = min(SMSS, window_end - una)
            if state.window.cwnd < state.window.ssthresh:
                state = acknowledge(state, acked, nxt - una, rtt * MILLISECOND)
            una += acked
        added.append((state.window.cwnd - before) // of_bytes(SMSS))
    return added


@pytest.mark.parametrize(("last", "rise"), [(16, 4), (32, 4), (80, 10), (128, 16), (400, 16)])
def test_a_rise_by_an_eighth_within_4_and_16_ms_quarters_the_growth(last: int, rise: int) -> None:
    # The second round has 18 segments. Eight samples decide (N_RTT_SAMPLE), then growth is a quarter: 8 + 10 / 4.
    assert rounds(opened(), [last, last + rise - 1])[1] == 18
    assert rounds(opened(), [last, last + rise])[1] == 10


def test_the_fifth_conservative_round_ends_start_up() -> None:
    added = rounds(opened(), [40, 50, 50, 50, 50, 50, 50, 50])
    assert all(count > 0 for count in added[:6]) and added[6:] == [0, 0]


def test_a_round_below_the_baseline_resumes_slow_start() -> None:
    assert rounds(opened(), [40, 50, 49, 49])[3] >= 30


def test_the_first_segments_of_each_round_are_probes() -> None:
    state = opened()

    def send(count: int) -> int:
        """The number of probes among them."""
        nonlocal state
        probes = 0
        for _ in range(count):
            assert state.departure is not None
            probe = state.departure.probe
            event = CongestionEvent(Kind.SENT, starting_up=True, segment_size=SMSS, sent_probe=probe)
            state = POLICY.respond(event, state.window, state.policy_state)
            probes += probe
        return probes

    assert send(IW) == IW - 1, "the first one leaves by the plan of before the connection"
    state = acknowledge(state, SMSS, IW * SMSS, None)
    assert send(IW + 20) == 24 - (IW - 1), "the first round has begun with the connection"
    for _ in range(IW - 1):
        state = acknowledge(state, SMSS, IW * SMSS, None)
    assert send(30) == 24


class Path:
    """The model over a bottleneck with a queue, to a receiver that delays ACKs; samples are those of the probes."""

    def __init__(self, queue: float, initial: int) -> None:
        self.state = POLICY.respond(
            CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=initial, initial_ssthresh=1 << 30),
            Window(0, 0),
            0,
        )
        self.places = int((1 + queue) * BDP)  # segments in the link and its queue
        self.free = 0.0  # ns: when the bottleneck is idle
        self.sent: list[tuple[float, bool]] = []  # departure, ns; whether it is a probe
        self.una = 0
        self.arrivals: list[float] = []  # ns, of each segment

    def send(self, now: float) -> bool:
        """As cwnd allows; False: the queue is full."""
        while (len(self.sent) - self.una + 1) * SMSS <= self.state.window.cwnd >> 16:
            if len(self.sent) - self.una == self.places:
                return False
            assert self.state.departure is not None
            outstanding = sum(probe for _, probe in self.sent[self.una :])
            probe = self.state.departure.probe and outstanding < 32
            self.free = max(self.free, now) + SERIAL
            self.sent.append((now, probe))
            self.arrivals.append(self.free + BASE / 2)
            event = CongestionEvent(Kind.SENT, starting_up=True, segment_size=SMSS, sent_probe=probe)
            self.state = POLICY.respond(event, self.state.window, self.state.policy_state)
        return True

    def conservative_before_a_loss(self) -> bool:
        fits = self.send(0)
        while fits and self.state.window.cwnd < self.state.window.ssthresh:
            now = self.arrivals[self.una + 1] + BASE / 2
            left, probe = self.sent[self.una + 1]
            rtt = round(now - left) if probe else None
            flight = (len(self.sent) - self.una) * SMSS
            self.state = acknowledge(self.state, 2 * SMSS, flight, rtt)
            self.una += 2
            if HystartState.unpacked(self.state.policy_state).conservative:
                return True
            fits = self.send(now)
        return False


BASE, SERIAL = 100 * MILLISECOND, 615_200  # 20 Mb/s, frames of 1538 bytes
BDP = BASE / SERIAL  # segments


@pytest.mark.parametrize(("queue", "initial"), [(2, 8), (2, IW), (2, 20), (3, 2), (3, 5), (4, 3), (4, 11)])
def test_behind_delayed_acks_it_leaves_slow_start_before_the_queue_is_full(queue: int, initial: int) -> None:
    """The window doubles, so in a short queue it depends on the window in which the path is full."""
    assert Path(queue, initial).conservative_before_a_loss()


def rfc_9406_is_conservative_before_a_loss(queue: int, initial: int) -> bool:
    """The same path, by the RFC's own words and a sample with each ACK."""
    rfc = Rfc9406(cwnd=initial * SMSS, window_end=initial * SMSS)
    free = 0.0
    sent: list[float] = []  # departures, ns
    arrivals: list[float] = []
    una, now = 0, 0.0
    while not rfc.css and rfc.ssthresh == inf:
        while (len(sent) - una + 1) * SMSS <= rfc.cwnd:
            if len(sent) - una == int((1 + queue) * BDP):
                return False
            free = max(free, now) + SERIAL
            sent.append(now)
            arrivals.append(free + BASE / 2)
        now = arrivals[una + 1] + BASE / 2
        una += 2
        rfc.ack(una * SMSS, len(sent) * SMSS, now - sent[una - 1])
    return rfc.css


def test_in_a_queue_of_two_windows_it_is_as_late_as_rfc_9406() -> None:
    """A sample tells of the window a round trip ago, half of cwnd: CSS begins with 2.25 to 4.5 windows of the path."""
    initials = range(7, 41)
    late = [initial for initial in initials if not Path(2, initial).conservative_before_a_loss()]
    assert late == [initial for initial in initials if not rfc_9406_is_conservative_before_a_loss(2, initial)]
    assert 0 < len(late) < len(initials)


def test_a_queue_of_four_windows_is_never_full_before() -> None:
    assert all(Path(4, initial).conservative_before_a_loss() for initial in range(2, 41))


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_after_a_loss_it_is_standard_slow_start(kind: Kind) -> None:
    state = POLICY.respond(CongestionEvent(kind, segment_size=SMSS), opened().window, opened().policy_state)
    grown = acknowledge(state, 4 * SMSS, 10 * SMSS, 40 * MILLISECOND)
    assert grown.window.cwnd == state.window.cwnd + of_bytes(SMSS)
    assert grown.policy_state == state.policy_state


def float_error(draw: random.Random) -> float:
    """Without round-trip samples; with them a test above compares exactly."""
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, 8 * SMSS), draw, starting_up=True)
