# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic window as a policy: the RTL is its golden model's, bit for bit; the golden model keeps to the thesis's
rules."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.calculation.logistic_draws import draw_request, error, exact
from sim.golden.calculation.logistic_window import LogisticRequest, logistic_window
from sim.golden.congestion.seam import Calculated, CongestionEvent, Kind, Window, of_bytes
from sim.golden.congestion.startup.standard import POLICY as STANDARD
from sim.golden.congestion.steady import reno
from sim.golden.congestion.steady.logistic import (
    LONGEST,
    POLICY,
    LogisticState,
    argument,
)
from sim.golden.window import CongestionState

SMSS = 1460
CAPACITY, ROUND_TRIP = 12_500_000, 60_000_000  # 100 Mb/s, 60 ms
TARGET = 750_000
MILLISECOND = 1_000_000


def test_logistic() -> None:
    run_module("PolicyLogistic", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """An argument that holds, and a last step about to be 10 s ago."""
    since = event.now - draw.choice([0, 1, LONGEST - 1, LONGEST, LONGEST + 1, draw.randrange(LONGEST)])
    state = LogisticState.unpacked(draw.choice([argument(CAPACITY, CAPACITY), argument(125, 0)]))
    return replace(state, moved_at=since % (1 << 48), credit=draw.getrandbits(32)).packed()


@dataclass
class Connection:
    """A connection of the golden models in virtual time, from cwnd = ssthresh = two segments on."""

    given: int
    initial_window: int = 2
    now: int = 0
    segment: int = SMSS
    state: CongestionState = field(init=False)

    def __post_init__(self) -> None:
        self.state = CongestionState(STANDARD, POLICY, steady_policy_state=self.given)
        self.see(
            Kind.ESTABLISHED, initial_window=self.initial_window, initial_ssthresh=self.initial_window * self.segment
        )

    def see(self, kind: Kind, after: int = 0, requested: bool = False, **more: Any) -> float:
        """An event so many ns later; the window after it, bytes."""
        self.now += after
        event = CongestionEvent(kind, now=self.now, segment_size=self.segment, rtt_minimum=ROUND_TRIP, acked_bytes=SMSS)
        return self.state.see(replace(event, **more), requested).cwnd / of_bytes(1)

    def step(self, after: int, **more: Any) -> float:
        """An ACK, and at once the answer."""
        self.see(Kind.ACKNOWLEDGED, after, requested=True, **more)
        return self.see(Kind.CALCULATED, **more)

    @property
    def ssthresh(self) -> float:
        return self.state.window.ssthresh / of_bytes(1)


def grown(window: float, seconds: float, target: float = TARGET, rate: float = 1) -> float:
    """Eq. 10 with x = 1.95 t rate."""
    growth = math.exp(1.95 * seconds * rate)
    return window * growth * target / (window * (growth - 1) + target)


FULL = argument(CAPACITY, CAPACITY)


@pytest.mark.parametrize(("epsilon", "gamma"), [(1.0, 0.9), (4.0, 0.5), (1.95, 0.25), (8.0, 0.9)])
def test_epsilon_and_gamma_of_the_argument_are_equation_10_s(epsilon: float, gamma: float) -> None:
    connection = Connection(argument(CAPACITY, CAPACITY / 4, epsilon, gamma))
    share = 1 - gamma * 3 / 4
    while connection.now < 400 * MILLISECOND:
        window = connection.step(10 * MILLISECOND)
        right = grown(2 * SMSS, connection.now / 1e9 / 1.95, TARGET * share, epsilon * share)
        assert window == pytest.approx(right, rel=1e-4)


def test_no_argument_has_the_usual_epsilon_and_gamma() -> None:
    result = POLICY.respond(CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS), Window(0, 0), 0)
    state = LogisticState.unpacked(result.policy_state)
    assert (state.epsilon, state.gamma, state.measures) == (624, 576, 1)


def test_the_window_follows_equation_10_whenever_acks_come() -> None:
    draw, connection = random.Random(1), Connection(FULL)
    while connection.now < 6_000 * MILLISECOND:
        window = connection.step(draw.choice([1000, 12_345, MILLISECOND, 17 * MILLISECOND]))
        assert window == pytest.approx(grown(2 * SMSS, connection.now / 1e9), rel=1e-4)


def test_acks_during_a_calculation_let_time_pass_for_the_next() -> None:
    connection = Connection(FULL)
    connection.see(Kind.ACKNOWLEDGED, MILLISECOND, requested=True)
    for _ in range(5):
        assert connection.see(Kind.ACKNOWLEDGED, MILLISECOND) == 2 * SMSS
    connection.see(Kind.CALCULATED)
    assert connection.step(MILLISECOND) == pytest.approx(grown(2 * SMSS, 0.007), rel=1e-6)


def test_a_request_that_was_not_taken_is_asked_again_with_all_the_time() -> None:
    connection = Connection(FULL)
    connection.see(Kind.ACKNOWLEDGED, MILLISECOND)
    assert connection.step(MILLISECOND) == pytest.approx(grown(2 * SMSS, 0.002), rel=1e-6)


def test_a_window_above_the_target_shrinks_without_a_loss_and_takes_ssthresh_along() -> None:
    connection = Connection(argument(CAPACITY, CAPACITY / 2))
    connection.state.window = Window(of_bytes(TARGET), of_bytes(TARGET))
    window = connection.step(60 * MILLISECOND)
    assert window == pytest.approx(713611.69, abs=0.01)  # vector lv of the specification
    assert connection.ssthresh == window


def test_a_step_at_most_doubles_the_window() -> None:
    assert Connection(FULL).step(3_000 * MILLISECOND) == 4 * SMSS


def test_a_step_takes_ten_seconds_at_most() -> None:
    slow = argument(125, 0)
    requested = []
    for gap in (LONGEST, LONGEST + 1, 1 << 47):
        event = CongestionEvent(Kind.ACKNOWLEDGED, now=gap, rtt_minimum=ROUND_TRIP)
        result = POLICY.respond(event, Window(of_bytes(3000), of_bytes(2000)), slow)
        assert result.calculation is not None
        requested.append(LogisticRequest.unpacked(result.calculation.request).elapsed)
    assert requested == [LONGEST] * 3


def test_two_segments_are_left() -> None:
    assert Connection(argument(125, 0), initial_window=8).step(9_000 * MILLISECOND) == 2 * SMSS


def test_time_without_anything_outstanding_does_not_count() -> None:
    connection = Connection(FULL)
    connection.step(MILLISECOND)
    connection.see(Kind.SENT, 5_000 * MILLISECOND, flight=0)
    connection.see(Kind.SENT, MILLISECOND, flight=SMSS)
    assert connection.step(MILLISECOND) == pytest.approx(grown(2 * SMSS, 0.003), rel=1e-6)


def test_time_in_recovery_does_not_count() -> None:
    connection = Connection(FULL, initial_window=20)
    before = connection.step(MILLISECOND)
    connection.see(Kind.LOSS, 10 * MILLISECOND, flight=int(before))
    connection.see(Kind.PARTIAL, 10 * MILLISECOND)
    left = connection.see(Kind.RECOVERED, 10 * MILLISECOND, flight=int(before))
    assert left == int(before) // 2
    assert connection.step(MILLISECOND) == pytest.approx(grown(left, 0.001), rel=1e-6)


def test_an_answer_from_before_a_loss_is_not_taken() -> None:
    connection = Connection(FULL, initial_window=20)
    connection.see(Kind.ACKNOWLEDGED, 100 * MILLISECOND, requested=True)
    window = connection.see(Kind.LOSS, flight=20 * SMSS)
    assert connection.see(Kind.CALCULATED) == window == 13 * SMSS
    connection.see(Kind.RECOVERED, MILLISECOND, flight=20 * SMSS)
    assert connection.step(MILLISECOND) == pytest.approx(grown(10 * SMSS, 0.001), rel=1e-6)


def test_after_a_timeout_the_equation_goes_on_from_the_smallest_window() -> None:
    connection = Connection(FULL, initial_window=20)
    connection.see(Kind.TIMEOUT, 1_000 * MILLISECOND, flight=20 * SMSS)
    assert connection.see(Kind.ACKNOWLEDGED, MILLISECOND) == 2 * SMSS
    assert connection.step(MILLISECOND) == pytest.approx(grown(2 * SMSS, 0.001), rel=1e-6)


@pytest.mark.parametrize(("given", "round_trip"), [(0, ROUND_TRIP), (FULL, CongestionEvent.rtt_minimum), (FULL, 0)])
def test_without_a_capacity_or_a_round_trip_it_is_reno(given: int, round_trip: int) -> None:
    draw = random.Random(3)
    window, policy_state, credit = Window(of_bytes(10 * SMSS), of_bytes(10 * SMSS)), given, 0
    for _ in range(20_000):
        event = CongestionEvent(
            kind=draw.choice([kind for kind in Kind if kind is not Kind.CALCULATED] + 30 * [Kind.ACKNOWLEDGED]),
            acked_bytes=draw.choice([1, SMSS, 2 * SMSS]),
            flight=draw.getrandbits(draw.randint(1, 20)),
            segment_size=SMSS,
            rtt_minimum=round_trip,
        )
        own, its = POLICY.respond(event, window, policy_state), reno.POLICY.respond(event, window, credit)
        assert own.window == its.window
        assert own.calculation is None
        window, policy_state, credit = its.window, own.policy_state, its.policy_state


def test_an_answer_to_the_start_up_policy_is_not_ours() -> None:
    window = Window(of_bytes(10 * SMSS), of_bytes(10 * SMSS))
    event = CongestionEvent(
        Kind.CALCULATED, calculated=Calculated(of_bytes(5000), of_startup=True), rtt_minimum=ROUND_TRIP
    )
    assert POLICY.respond(event, window, FULL).window == window


@pytest.mark.parametrize(("capacity", "available"), [(0, 0), (2**34, 0), (1000, 1001), (1000, -1)])
def test_what_no_argument_can_say_is_refused(capacity: float, available: float) -> None:
    with pytest.raises(ValueError, match="logistic"):
        argument(capacity, available)


def float_error(draw: random.Random) -> float:
    """The error of the unit's window, where a unit of the last place is less than the tolerance and the window fits."""
    worst = 0.0
    for _ in range(2000):
        requested = draw_request(draw)
        window = exact(requested).window
        share, units = error(logistic_window(requested), window)
        if units > 1 and window < 1 << 32:
            worst = max(worst, share)
    return worst
