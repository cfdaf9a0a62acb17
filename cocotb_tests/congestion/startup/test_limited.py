# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Limited slow start: the RTL is its golden model's, bit for bit, and the golden model keeps to RFC 3742's equation."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.startup.limited import POLICY, LimitedState

SMSS = 1460


def test_limited() -> None:
    run_module("PolicyLimited", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """The credit about to be enough, cwnd about to raise K."""
    spent = draw.randrange(2, 40) * event.segment_size
    credit = spent - min(event.acked_bytes, event.segment_size) + draw.choice([-1, 0, 1, event.segment_size])
    return LimitedState(credit, spent, ((window.cwnd >> 16) + draw.randint(-1, 1)) % (1 << 32)).packed()


def opened(segments: int) -> PolicyResult:
    event = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=segments, initial_ssthresh=1 << 30)
    return POLICY.respond(event, Window(0, 0), 0)


def acknowledge(state: PolicyResult, acked: int = SMSS) -> PolicyResult:
    event = CongestionEvent(Kind.ACKNOWLEDGED, starting_up=True, acked_bytes=acked, segment_size=SMSS)
    return POLICY.respond(event, state.window, state.policy_state)


def cwnd(state: PolicyResult) -> int:
    """Segments, whole throughout these tests."""
    return state.window.cwnd // of_bytes(SMSS)


@pytest.mark.parametrize(
    ("segments", "k", "increment"),
    [
        (100, 1, 1460),
        (101, 2, 730),
        (149, 2, 730),
        (150, 3, 486),
        (200, 4, 365),
        (400, 8, 182),
        (1000, 20, 73),
    ],
)
def test_k_acks_add_a_segment(segments: int, k: int, increment: int) -> None:
    state = opened(100)
    while cwnd(state) < segments:
        state = acknowledge(state)
    acks = 0
    while cwnd(state) == segments:
        state, acks = acknowledge(state), acks + 1
    assert (acks, SMSS // acks) == (k, increment)
    assert cwnd(state) == segments + 1


def test_growth_keeps_to_the_equation_within_a_segment() -> None:
    """RFC 3742: cwnd += SMSS / K, K = int(cwnd / (max_ssthresh / 2)), here without rounding the increment."""
    state, equation = opened(90), Fraction(90 * SMSS)
    for _ in range(20_000):
        state = acknowledge(state)
        k = 1 if equation <= 100 * SMSS else equation // (50 * SMSS)
        equation += Fraction(SMSS, k)
        assert equation - SMSS < cwnd(state) * SMSS <= equation
    assert cwnd(state) > 1000


@pytest.mark.parametrize("acked", [1, 500, 1460, 5840])
def test_an_ack_counts_for_a_segment_at_most(acked: int) -> None:
    small, large = opened(50), opened(120)
    counted = min(acked, SMSS)
    assert acknowledge(small, acked).window.cwnd == small.window.cwnd + of_bytes(counted)
    assert acknowledge(large, acked).policy_state - large.policy_state == counted


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_a_loss_restarts(kind: Kind) -> None:
    state = opened(100)
    for _ in range(5000):
        state = acknowledge(state)
    result = POLICY.respond(CongestionEvent(kind, segment_size=SMSS), state.window, state.policy_state)
    assert state.policy_state != result.policy_state == opened(100).policy_state


def float_error(draw: random.Random) -> float:
    """Whole segments in the place of the RFC's bytes with each ACK."""

    def rfc_3742(cwnd: float, acked: float) -> float:
        return cwnd + min(acked, SMSS) / (1 if cwnd <= 100 * SMSS else int(cwnd / (50 * SMSS)))

    return largest_error(POLICY, rfc_3742, draw, starting_up=True)
