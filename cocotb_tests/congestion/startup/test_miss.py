# SPDX-License-Identifier: BSD-2-Clause-Patent
"""MISS in the core: the RTL is its golden model's, bit for bit, and the golden model does what the thesis says."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.calculation.miss_window import Response
from sim.golden.congestion.seam import (
    Calculated,
    CongestionEvent,
    Departure,
    Kind,
    Pace,
    PolicyResult,
    Window,
    of_bytes,
)
from sim.golden.congestion.startup.miss import POLICY, MissState, argument

SMSS = 1460
MILLISECOND = 10**6
NOW = 5_000 * MILLISECOND
R = 100 * MILLISECOND
START = Window(of_bytes(SMSS), of_bytes(10 * SMSS))


def test_miss() -> None:
    run_module("PolicyMiss", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
        """The drop is about now; the flight is about to end, or to begin; the response about the initial window."""
        state = MissState(draw.getrandbits(24), draw.getrandbits(48), draw.randrange(3), draw.choice([0, 1, 254, 255]))
        if draw.random() < 0.5:
            state = replace(state, next=(event.now + draw.randrange(-(1 << 41), 1 << 41)) % (1 << 48))
        return replace(state, requesting=draw.random() < 0.5, pacing=draw.random() < 0.5).packed()

    await agrees_with_golden_model(dut, POLICY, near)


def opened(
    rate: float, until: int, round_trip: int | None, *, initial_window: int = 1, max_window: int = 65535
) -> PolicyResult:
    """After the handshake and the response to what was asked then."""
    base = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=initial_window, now=NOW)
    base = replace(base, initial_ssthresh=10 * SMSS)
    if round_trip is not None:
        base = replace(base, rtt_minimum=round_trip)
    result = POLICY.respond(base, START, argument(rate, NOW + until, max_window))
    if result.calculation is None:
        return result
    response = Calculated(POLICY.calculator.unit()(result.calculation.request), of_startup=True)
    return POLICY.respond(replace(base, kind=Kind.CALCULATED, calculated=response), result.window, result.policy_state)


@pytest.mark.parametrize(
    ("rate", "until_us", "segments"), [(3.0, 750_000, 22), (3.0586, 748_148, 22), (3.0, 300_000, 9)]
)
def test_the_window_that_fits_before_the_next_drop(rate: float, until_us: int, segments: int) -> None:
    """Vector miss; ssthresh is not below the window."""
    result = opened(rate, until_us * 1000, R)
    assert result.window == Window(of_bytes(segments * SMSS), of_bytes(max(segments, 10) * SMSS))
    gaps = []
    while result.departure and result.departure.pace is Pace.APART:
        gaps.append(result.departure.time / 65536)
        result = POLICY.respond(CongestionEvent(Kind.SENT, segment_size=SMSS), result.window, result.policy_state)
    assert len(gaps) == segments
    assert all(gap == pytest.approx(R / segments, abs=1 / 256) for gap in gaps)


@pytest.mark.parametrize(
    ("until_us", "round_trip", "initial_window"),
    [(0, R, 1), (-1000, R, 1), (750_000, None, 1), (300_000, R, 10)],
    ids=["now", "overdue", "no round trip", "below the initial window"],
)
def test_otherwise_it_is_slow_start(until_us: int, round_trip: int | None, initial_window: int) -> None:
    result = opened(3.0, until_us * 1000, round_trip, initial_window=initial_window)
    assert result.window == Window(of_bytes(initial_window * SMSS), of_bytes(10 * SMSS))
    assert result.departure == Departure()


def test_the_host_bounds_the_window_and_a_loss_ends_the_flight() -> None:
    result = opened(100.0, 750 * MILLISECOND, R, max_window=15)
    assert result.window.cwnd == of_bytes(15 * SMSS)
    lost = POLICY.respond(CongestionEvent(Kind.LOSS, segment_size=SMSS), result.window, result.policy_state)
    assert lost.departure == Departure()


def test_what_left_before_the_response_counts() -> None:
    state = MissState.unpacked(argument(3.0, 0))
    event = CongestionEvent(Kind.CALCULATED, segment_size=SMSS, initial_window=1)
    event = replace(event, calculated=Calculated(Response(20, 256 * 1000).packed(), of_startup=True))
    after = POLICY.respond(event, START, replace(state, requesting=1, early=3).packed())
    assert MissState.unpacked(after.policy_state).max_window == 17 and after.departure == Departure(
        Pace.APART, 1000 << 16
    )


def float_error(draw: random.Random) -> float:
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, SMSS), draw, starting_up=True)
