# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Scalable TCP: the RTL is its golden model's, bit for bit, and the golden model follows Kelly's equations."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.steady import reno
from sim.golden.congestion.steady.stcp import POLICY

SMSS = 1460


def test_stcp() -> None:
    run_module("PolicyStcp", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Reno's credit about to be enough."""
    return max((window.cwnd >> 16) - event.acked_bytes + draw.randint(-1, 1), 0) % (1 << 32)


def starting(segments: int) -> PolicyResult:
    return PolicyResult(Window(of_bytes(segments * SMSS), of_bytes(segments * SMSS)), 0)


def acknowledge(state: PolicyResult, acked: int) -> PolicyResult:
    event = CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=acked, segment_size=SMSS)
    return POLICY.respond(event, state.window, state.policy_state)


@pytest.mark.parametrize(("acks", "q16"), [(1, 65536655), (10, 65542550), (100, 65601500), (1000, 66191000)])
def test_an_ack_of_a_segment_adds_a_hundredth_of_it(acks: int, q16: int) -> None:
    """From 1,000 segments; the window in segments with 16 fraction bits."""
    state = starting(1000)
    for _ in range(acks):
        state = acknowledge(state, SMSS)
    assert state.window.cwnd == q16 * SMSS


@pytest.mark.parametrize("parts", [1, 2, 5, 1460])
def test_growth_counts_bytes_not_acks(parts: int) -> None:
    whole, divided = acknowledge(starting(100), SMSS), starting(100)
    for _ in range(parts):
        divided = acknowledge(divided, SMSS // parts)
    assert divided.window == whole.window


@pytest.mark.parametrize("segments", [2, 15, 16])
def test_up_to_sixteen_segments_it_is_reno(segments: int) -> None:
    draw = random.Random(segments)
    own = its = starting(segments)
    for _ in range(2000):
        event = CongestionEvent(
            draw.choice([Kind.ACKNOWLEDGED, Kind.ACKNOWLEDGED, Kind.LOSS, Kind.TIMEOUT]),
            acked_bytes=draw.randrange(SMSS),
            flight=draw.randrange(20 * SMSS),
            segment_size=SMSS,
        )
        own = POLICY.respond(event, starting(segments).window, own.policy_state)
        its = reno.POLICY.respond(event, starting(segments).window, its.policy_state)
        assert own == its


@pytest.mark.parametrize(("flight", "segments"), [(1000, 875), (17, 14.875), (1, 2)])
@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_a_loss_takes_an_eighth(flight: int, segments: float, kind: Kind) -> None:
    event = CongestionEvent(kind, flight=flight * SMSS, segment_size=SMSS)
    assert POLICY.respond(event, starting(1000).window, 7) == PolicyResult(
        Window(of_bytes(1000 * SMSS), of_bytes(-int(-segments * SMSS // 1))), 0
    )


def float_error(draw: random.Random) -> float:
    """From 0.01 N for each ACK, above the legacy window; 0.01 is 655 / 65536."""
    draw = random.Random(draw.random())
    worst = 0.0
    for _ in range(200):
        state = starting(draw.randrange(17, 10_000))
        exact = state.window.cwnd / of_bytes(1)
        for _ in range(100):
            acked = draw.randrange(1, 5 * SMSS)
            state, exact = acknowledge(state, acked), exact + 0.01 * acked
            worst = max(worst, abs(state.window.cwnd / of_bytes(1) - exact) / exact)
    return worst
