# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CUBIC: the RTL is its golden model's, bit for bit, and the model follows RFC 9438, as a statement of it in floats
does."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.test_cubic_growth import equation, request
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.calculation.cubic_growth import Growth, Request, cubic
from sim.golden.congestion.seam import Calculated, CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.steady.cubic import BEGINS, GROWS, POLICY, WAITS, CubicState

SMSS = 1460
BETA, C = 0.7, 0.4
MILLISECOND = 1_000_000


def test_cubic() -> None:
    run_module("PolicyCubic", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Windows at W_max, at W_est and at the one before the loss; responses for what is there and for more."""
    whole, note = window.cwnd >> 16, event.calculated.note if event.calculated else 0
    w_est = window.cwnd + draw.randint(-(1 << 31), 1 << 31)
    return CubicState(
        w_max=max(whole + draw.randint(-1, 1), 0) % (1 << 30),
        cwnd_prior=max((w_est >> 16) + draw.randint(-1, 1), 0) % (1 << 30),
        t_minus_k=draw.choice([draw.getrandbits(30), (1 << 30) - 1 - draw.randrange(1000), -draw.getrandbits(30)]),
        counted_at=((event.now >> 10) - draw.getrandbits(draw.randint(1, 30))) % (1 << 30),
        w_est=max(w_est, 0) % (1 << 46),
        acked=max(note + draw.randint(-1, 1), 0) % (1 << 30),
        round_trip=draw.getrandbits(draw.randint(1, 26)),
        phase=draw.choice([WAITS, BEGINS, GROWS]),
    ).packed()


@dataclass
class Sender:
    """The policy with its calculator, which responds after `delay` more ACKs."""

    window: Window
    policy_state: int = 0
    now: int = 0
    delay: int = 0
    _under_way: tuple[int, Calculated] | None = None

    @property
    def state(self) -> CubicState:
        return CubicState.unpacked(self.policy_state)

    @property
    def cwnd(self) -> float:
        """Segments."""
        return self.window.cwnd / of_bytes(SMSS)

    def see(self, kind: Kind, acked: int = 0, flight: int | None = None, rtt: int | None = None) -> PolicyResult:
        event = CongestionEvent(
            kind,
            acked_bytes=acked,
            flight=self.window.cwnd >> 16 if flight is None else flight,
            segment_size=SMSS,
            rtt=rtt,
            now=self.now % (1 << 48),
            calculating=self._under_way is not None,
        )
        result = POLICY.respond(event, self.window, self.policy_state)
        self.policy_state = result.policy_state
        if kind in (Kind.LOSS, Kind.TIMEOUT):
            self.window = Window(result.window.ssthresh, result.window.ssthresh)
            self._under_way = None
        if result.calculation is not None:
            given = POLICY.calculator.unit()(result.calculation.request)
            self._under_way = (self.delay, Calculated(given, result.calculation.note))
        if self._under_way is not None:
            left, calculated = self._under_way
            self._under_way = (left - 1, calculated)
            if left == 0:
                self._under_way = None
                back = replace(
                    event, kind=Kind.CALCULATED, acked_bytes=0, calculated=calculated, calculating=False, rtt=None
                )
                result = POLICY.respond(back, self.window, self.policy_state)
                self.policy_state, self.window = result.policy_state, result.window
        return result


@dataclass
class Rfc9438:
    """Section 4, by its names, in floats, segments and seconds."""

    cwnd: float
    w_max: float = 0
    cwnd_prior: float = 0
    w_est: float = 0
    t_epoch: float | None = None
    k: float = 0

    def loss(self, timeout: bool = False) -> None:
        self.cwnd_prior = self.cwnd
        self.w_max = self.cwnd * (1 + BETA) / 2 if self.cwnd < self.w_max else self.cwnd
        self.cwnd, self.t_epoch = max(self.cwnd * BETA, 2), None
        if timeout:
            self.w_max = 0

    def w_cubic(self, t: float) -> float:
        return C * (t - self.k) ** 3 + self.w_max

    def ack(self, segments: float, now: float, rtt: float) -> None:
        if self.t_epoch is None:
            self.t_epoch, self.w_est = now, self.cwnd
            if self.w_max <= self.cwnd:  # 4.8, 4.10
                self.w_max = self.cwnd
            self.k = ((self.w_max - self.cwnd) / C) ** (1 / 3)
        t = now - self.t_epoch
        alpha = 1 if self.w_est >= self.cwnd_prior else 3 * (1 - BETA) / (1 + BETA)
        self.w_est += alpha * segments / self.cwnd
        if self.w_cubic(t) < self.w_est:
            self.cwnd = max(self.cwnd, self.w_est)
            return
        target = min(max(self.w_cubic(t + rtt), self.cwnd), 1.5 * self.cwnd)
        self.cwnd += (target - self.cwnd) / self.cwnd * segments


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("rtt", [2, 20, 100, 400])
@pytest.mark.parametrize("segments", [4, 40, 400, 4000])
def test_each_epoch_is_rfc_9438_s(segments: int, rtt: int, delay: int) -> None:
    """Losses at one window, at a smaller one (fast convergence) and at a larger one; one ACK for two segments, `rtt`
    ms."""
    draw = random.Random(segments + rtt)
    ours, rfc, now = Sender(Window(of_bytes(segments * SMSS), of_bytes(2 * SMSS)), delay=delay), Rfc9438(segments), 1.0
    worst = 0.0
    ours.see(Kind.ESTABLISHED, rtt=rtt * MILLISECOND)
    for scale in (1.0, 0.9, 1.3, 1.0):
        kind = Kind.TIMEOUT if scale == 1.3 else Kind.LOSS
        flight = round(scale * segments * SMSS)
        ours.window = Window(of_bytes(flight), ours.window.ssthresh)
        rfc.cwnd = flight / SMSS
        ours.see(kind, flight=flight)
        rfc.loss(timeout=kind is Kind.TIMEOUT)
        for _ in range(min(40 * segments, 3000)):
            now += 2 * rtt / 1000 / rfc.cwnd * draw.uniform(0.8, 1.2)
            ours.now = round(now * 1e9)
            ours.see(Kind.ACKNOWLEDGED, 2 * SMSS)
            rfc.ack(2, now, rtt / 1000)
            worst = max(worst, abs(ours.cwnd - rfc.cwnd) / rfc.cwnd)
    # An answer counts some ACKs late, two segments each: no more than 0.6 segments for each meanwhile, and 0.3 that
    # stay.
    assert worst < 0.6 * (1 + delay) / segments
    assert abs(ours.cwnd - rfc.cwnd) < 0.3 * (1 + delay)


def test_a_loss_leaves_seven_tenths_of_the_flight_but_two_segments_at_least() -> None:
    for flight in (29200, 2920, 100 * SMSS, 1 << 30):
        event = CongestionEvent(Kind.LOSS, flight=flight, segment_size=SMSS)
        ssthresh = POLICY.respond(event, Window(of_bytes(flight), 0), 0).window.ssthresh / 65536
        assert max(0.7 * flight, 2 * SMSS) * (1 - 1e-5) - 1 < ssthresh <= max(0.7 * flight, 2 * SMSS)


@pytest.mark.parametrize(("cwnd", "before", "w_max"), [(100, 0, 100), (100, 100, 100), (100, 101, 85), (120, 100, 120)])
def test_w_max_is_the_window_at_the_loss_or_less_of_it_where_it_falls(cwnd: int, before: int, w_max: int) -> None:
    """RFC 9438 4.7, fast convergence: (1 + 0.7) / 2."""
    policy_state = CubicState(w_max=before * SMSS, phase=GROWS).packed()
    event = CongestionEvent(Kind.LOSS, flight=cwnd * SMSS, segment_size=SMSS)
    after = CubicState.unpacked(POLICY.respond(event, Window(of_bytes(cwnd * SMSS), 0), policy_state).policy_state)
    assert (after.cwnd_prior, after.phase) == (cwnd * SMSS, WAITS)
    assert w_max * SMSS * (1 - 1e-5) - 1 < after.w_max <= w_max * SMSS


def test_after_a_timeout_the_epoch_begins_at_its_plateau() -> None:
    """RFC 9438 4.8: K = 0, W_max and W_est are the window with which congestion avoidance begins."""
    sender = Sender(Window(of_bytes(100 * SMSS), 0))
    sender.see(Kind.TIMEOUT)
    sender.window = Window(of_bytes(70 * SMSS), of_bytes(70 * SMSS))
    sender.see(Kind.ACKNOWLEDGED, SMSS)
    state = sender.state
    assert (state.phase, state.w_max, state.w_est >> 16, state.t_minus_k) == (GROWS, 70 * SMSS, 70 * SMSS, 0)
    assert state.cwnd_prior == 100 * SMSS


def test_k_is_the_time_to_w_max() -> None:
    sender = Sender(Window(of_bytes(100 * SMSS), 0))
    sender.see(Kind.LOSS)
    sender.see(Kind.ACKNOWLEDGED, SMSS)
    assert sender.state.phase == GROWS
    assert abs(-sender.state.t_minus_k * 1024e-9 - (30 / 0.4) ** (1 / 3)) < 1e-3


def test_time_in_which_the_window_is_not_used_does_not_count() -> None:
    """RFC 9438 4.2: less than half a window in flight; nothing at all, and then a window at once."""
    sender = Sender(Window(of_bytes(100 * SMSS), 0))
    sender.see(Kind.ACKNOWLEDGED, SMSS)
    sender.now += 100 * MILLISECOND
    sender.see(Kind.ACKNOWLEDGED, SMSS)
    counted = sender.state.t_minus_k
    assert counted == 100 * MILLISECOND >> 10
    sender.now += 5000 * MILLISECOND
    before = sender.window
    sender.see(Kind.ACKNOWLEDGED, SMSS, flight=40 * SMSS)
    assert (sender.state.t_minus_k, sender.window) == (counted, before)
    sender.now += 5000 * MILLISECOND
    sender.see(Kind.SENT, flight=0)
    sender.now += 100 * MILLISECOND
    sender.see(Kind.ACKNOWLEDGED, SMSS)
    assert abs(sender.state.t_minus_k - 2 * counted) <= 1


def test_what_is_acknowledged_while_it_calculates_counts_with_the_next_request() -> None:
    sender = Sender(Window(of_bytes(10 * SMSS), 0), delay=4)
    sender.see(Kind.ACKNOWLEDGED, SMSS)  # begins the epoch
    for count in range(2, 6):
        sender.see(Kind.ACKNOWLEDGED, SMSS)
        assert sender.state.acked == count * SMSS
    # The request was of the first two.
    sender.see(Kind.ACKNOWLEDGED, SMSS)
    assert sender.state.acked == 4 * SMSS


def test_an_answer_that_a_loss_has_overtaken_changes_nothing() -> None:
    state = CubicState(phase=GROWS, acked=SMSS, w_est=1 << 30)
    given = Calculated(Growth(1 << 20, 1 << 20, 0).packed(), note=SMSS, stale=True)
    after = POLICY.respond(CongestionEvent(Kind.CALCULATED, calculated=given), Window(1 << 30, 1), state.packed())
    assert CubicState.unpacked(after.policy_state) == state


def test_start_up_ends_an_epoch() -> None:
    state = CubicState(phase=GROWS, acked=SMSS, w_max=7)
    event = CongestionEvent(Kind.ACKNOWLEDGED, starting_up=True, acked_bytes=SMSS)
    after = POLICY.respond(event, Window(1 << 30, 1 << 31), state.packed())
    assert (CubicState.unpacked(after.policy_state).phase, CubicState.unpacked(after.policy_state).acked) == (WAITS, 0)
    assert after.calculation is None


def test_the_round_trip_is_smoothed_with_an_eighth() -> None:
    sender = Sender(Window(of_bytes(10 * SMSS), 0))
    smoothed = 100.0
    for rtt in (100, 120, 80, 300, 100, 50):
        sender.see(Kind.ACKNOWLEDGED, SMSS, rtt=rtt * MILLISECOND)
        smoothed += (rtt - smoothed) / 8
        assert abs(sender.state.round_trip * 1.024e-3 - smoothed) < 8 * 1.024e-3


def test_a_request_tells_what_it_accounts_for() -> None:
    state = CubicState(phase=GROWS, acked=1 << 20, w_est=1 << 30)
    event = CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=SMSS, flight=1 << 20, segment_size=SMSS)
    requested = POLICY.respond(event, Window(of_bytes(1 << 20), 1), state.packed()).calculation
    assert requested is not None
    assert requested.note == Request.unpacked(requested.request).acked == (1 << 18) - 1


def float_error(draw: random.Random) -> float:
    """The error of W_cubic, where it is two segments at least."""
    worst = 0.0
    for _ in range(2000):
        requested = request(draw)
        exact, _ = equation(requested, requested.t_minus_k)
        if exact >= 2 * requested.segment_size:
            worst = max(worst, float(abs(cubic(requested, requested.t_minus_k) / 65536 - exact) / exact))
    return worst
