# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rapid Start: the RTL is its golden model's, bit for bit, and the golden model does what the draft says."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import Calculated, CongestionEvent, Kind, Pace, PolicyResult, Window, of_bytes
from sim.golden.congestion.startup.rapid import POLICY, RapidState, rise

SMSS = 1460
MILLISECOND = 1_000_000


def test_rapid() -> None:
    run_module("PolicyRapid", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """A queue about to be one, the last segments of the first window."""
    limit = event.rtt_minimum + rise(event.rtt_minimum) + draw.randint(-1, 1)
    return RapidState(
        draw.choice([limit % (1 << 36), (1 << 36) - 1]),
        draw.getrandbits(31),
        draw.choice([0, 1, 2, 255]),
        draw.random() < 0.5,
        draw.random() < 0.5,
        draw.random() < 0.2,
    ).packed()


def opened(segments: int = 10, rtt: int | None = 100 * MILLISECOND) -> PolicyResult:
    event = CongestionEvent(
        Kind.ESTABLISHED, segment_size=SMSS, initial_window=segments, initial_ssthresh=1 << 30, rtt=rtt
    )
    return POLICY.respond(event, Window(0, 0), 0)


def see(state: PolicyResult, kind: Kind, **more: Any) -> PolicyResult:
    event = CongestionEvent(kind, segment_size=SMSS, starting_up=True, **more)
    return POLICY.respond(event, state.window, state.policy_state)


def acknowledge(state: PolicyResult, minimum: int, rtt: int) -> PolicyResult:
    """A round of ACKs of two segments; the first has the sample. Times in ns."""
    for number in range(state.window.cwnd // of_bytes(2 * SMSS)):
        sample = rtt if number == 0 else None
        state = see(state, Kind.ACKNOWLEDGED, acked_bytes=2 * SMSS, rtt=sample, rtt_minimum=minimum)
    return state


def threshold(minimum: float) -> float:
    """queue_buildup_thresh of the draft, ms."""
    return min(minimum + 4, 1.1 * minimum)


@pytest.mark.parametrize("minimum", [0.1, 1, 20, 39, 41, 66, 68, 200])
@pytest.mark.parametrize(("above", "growth"), [(-0.001, 3), (0.001, 2)])
def test_the_window_triples_until_the_queue_builds_up(minimum: float, above: float, growth: int) -> None:
    state = opened(40, round(minimum * MILLISECOND))
    minimum, rtt = round(minimum * MILLISECOND), round((threshold(minimum) * (1 + above)) * MILLISECOND)
    state = acknowledge(state, minimum, rtt)
    before = state.window.cwnd
    state = acknowledge(state, minimum, rtt)
    # The round's first ACK goes by the sample before it.
    assert state.window.cwnd / before == pytest.approx(growth, rel=0.05)


@pytest.mark.parametrize("segments", [4, 10, 20])
def test_the_first_window_leaves_over_a_round_trip(segments: int) -> None:
    state = opened(segments)
    assert state.departure is not None and (state.departure.pace, state.departure.time) == (Pace.APART, 0)
    state = see(state, Kind.SENT)
    assert state.departure is not None and state.departure.minimum_segments == 63, "the second waits for the gap"
    requested = state.calculation
    assert requested is not None
    response = POLICY.calculator.unit()(requested.request)
    state = see(state, Kind.CALCULATED, calculated=Calculated(response, of_startup=True))
    for _ in range(segments - 1):
        assert state.departure is not None and state.departure.pace is Pace.APART
        assert state.departure.time / 65536 == 100 * MILLISECOND // segments
        state = see(state, Kind.SENT)
    assert state.departure is not None and state.departure.pace is Pace.CONFIGURED


def test_a_handshake_without_a_sample_paces_nothing() -> None:
    state = opened(rtt=None)
    assert state.departure is not None and state.departure.pace is Pace.CONFIGURED
    # Without rtt_floor it is slow start.
    assert see(state, Kind.ACKNOWLEDGED, acked_bytes=SMSS).window.cwnd == of_bytes(11 * SMSS)


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_a_loss_ends_it(kind: Kind) -> None:
    state = see(opened(), kind)
    assert state.departure is not None and state.departure.pace is Pace.CONFIGURED
    grown = see(state, Kind.ACKNOWLEDGED, acked_bytes=4 * SMSS, rtt_minimum=100 * MILLISECOND)
    assert grown.window.cwnd == of_bytes(11 * SMSS)


def float_error(draw: random.Random) -> float:
    """The error of the threshold, against the draft's in floats."""
    worst = 0.0
    for _ in range(5000):
        minimum = draw.randrange(50_000, 300 * MILLISECOND)
        exact = threshold(minimum / MILLISECOND) * MILLISECOND
        worst = max(worst, abs(minimum + rise(minimum) - exact) / exact)
    return worst
