# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reno: the RTL is its golden model's, bit for bit, and the golden model follows RFC 5681's equations."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.steady.reno import POLICY

SMSS = 1460


def test_reno() -> None:
    run_module("PolicyReno", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY)


def starting(segments: int) -> PolicyResult:
    return PolicyResult(Window(of_bytes(segments * SMSS), of_bytes(segments * SMSS)), 0)


def acknowledge(state: PolicyResult, acked: int) -> PolicyResult:
    event = CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=acked, segment_size=SMSS)
    return POLICY.respond(event, state.window, state.policy_state)


def cwnd(state: PolicyResult) -> float:
    """Bytes."""
    return state.window.cwnd / of_bytes(1)


def test_the_first_segment_is_added_when_a_window_is_acknowledged() -> None:
    state = starting(16)
    for _ in range(15):
        state = acknowledge(state, SMSS)
        assert cwnd(state) == 16 * SMSS
    state = acknowledge(state, SMSS)
    assert cwnd(state) == 17 * SMSS


def test_a_thousand_acks() -> None:
    state = starting(16)
    for _ in range(1000):
        state = acknowledge(state, SMSS)
    assert cwnd(state) == 68620


@pytest.mark.parametrize("segments", [2, 16, 100, 1000])
def test_each_window_of_acks_adds_one_segment_exactly(segments: int) -> None:
    state = starting(segments)
    for window in range(segments, segments + 20):
        for _ in range(window):
            state = acknowledge(state, SMSS)
        assert (cwnd(state), state.policy_state) == ((window + 1) * SMSS, 0)


@pytest.mark.parametrize("largest", [SMSS, 2 * SMSS, 5 * SMSS])
def test_growth_keeps_to_the_equation_within_a_segment(largest: int) -> None:
    """Each acknowledged byte adds SMSS / cwnd (RFC 5681 equation 3), solved: cwnd^2 = start^2 + 2 SMSS acked.

    Byte counting takes the step from cwnd to cwnd + SMSS after cwnd bytes, the equation after cwnd + SMSS / 2. After k
    steps from n segments the model is hence ahead by n + k - sqrt((n + k)^2 - k) segments, less than half a one; just
    before a step it is behind by less than that step.
    """
    draw = random.Random(1)
    state, acked = starting(16), 0
    for _ in range(20_000):
        count = draw.randrange(1, largest + 1)
        state, acked = acknowledge(state, count), acked + count
        equation = ((16 * SMSS) ** 2 + 2 * SMSS * acked) ** 0.5
        assert equation - SMSS < cwnd(state) < equation + SMSS / 2


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
@pytest.mark.parametrize(("flight", "ssthresh"), [(29200, 14600), (23360, 11680), (5840, 2920), (1460, 2920)])
def test_a_loss_leaves_half_the_flight_but_two_segments_at_least(kind: Kind, flight: int, ssthresh: int) -> None:
    event = CongestionEvent(kind, flight=flight, segment_size=SMSS)
    result = POLICY.respond(event, starting(20).window, 12345)
    assert result == PolicyResult(Window(starting(20).window.cwnd, of_bytes(ssthresh)), 0)


def test_what_start_up_acknowledges_earns_no_credit() -> None:
    event = CongestionEvent(Kind.ACKNOWLEDGED, starting_up=True, acked_bytes=SMSS, segment_size=SMSS)
    state = PolicyResult(starting(1).window, 77)
    assert POLICY.respond(event, state.window, state.policy_state) == state


def test_what_is_left_of_a_window_counts_for_the_next() -> None:
    state = acknowledge(starting(4), 5 * SMSS)
    assert (cwnd(state), state.policy_state) == (5 * SMSS, SMSS)
    for _ in range(4):
        state = acknowledge(state, SMSS)
    assert (cwnd(state), state.policy_state) == (6 * SMSS, 0)


def float_error(draw: random.Random) -> float:
    """Whole segments in the place of a curve."""
    return largest_error(
        POLICY, lambda cwnd, acked: float((cwnd**2 + 2 * SMSS * acked) ** 0.5), draw, starting_up=False
    )
