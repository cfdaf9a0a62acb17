# SPDX-License-Identifier: BSD-2-Clause-Patent
"""AIMD(a, b): the RTL is its golden model's, bit for bit; the golden model keeps to the equation, and (1, 0.5) is
Reno."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.additive_increase import CREDIT_BITS
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.steady import reno
from sim.golden.congestion.steady.aimd import POLICY, AimdState, argument

SMSS = 1460


def test_aimd() -> None:
    run_module("PolicyAimd", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """The credit about to be enough."""
    given = argument(draw.choice([0.25, 1, 3.3]), draw.random())
    earned = (given & (1 << 24) - 1) * event.acked_bytes
    credit = max(of_bytes(window.cwnd >> 16) - earned + draw.randint(-1, 1), 0)
    return replace(AimdState.unpacked(given), credit=credit).packed()


def starting(segments: int, given: int) -> PolicyResult:
    return PolicyResult(Window(of_bytes(segments * SMSS), of_bytes(segments * SMSS)), given)


def acknowledge(state: PolicyResult, acked: int) -> PolicyResult:
    event = CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=acked, segment_size=SMSS)
    return POLICY.respond(event, state.window, state.policy_state)


def cwnd(state: PolicyResult) -> float:
    """Bytes."""
    return state.window.cwnd / of_bytes(1)


@pytest.mark.parametrize(
    ("increase", "decrease", "a_q16", "b_q16", "acks", "after_1000", "after_loss"),
    [
        (1, 0.5, 65536, 32768, 16, 68620, 11680),
        (0.75, 0.4, 49152, 26214, 22, 61320, 14016),
        (0.25, 0.25, 16384, 16384, 64, 39420, 17520),
        (0.148, 0.125, 9699, 8192, 109, 33580, 20440),
    ],
)
def test_the_published_pairs(
    increase: float, decrease: float, a_q16: int, b_q16: int, acks: int, after_1000: int, after_loss: int
) -> None:
    given = argument(increase, decrease)
    assert given == b_q16 << 24 | a_q16
    state, first = starting(16, given), 0
    for number in range(1, 1001):
        state = acknowledge(state, SMSS)
        if first == 0 and cwnd(state) > 16 * SMSS:
            first = number
    assert (first, cwnd(state)) == (acks, after_1000)
    event = CongestionEvent(Kind.LOSS, flight=16 * SMSS, segment_size=SMSS)
    assert POLICY.respond(event, state.window, state.policy_state) == PolicyResult(
        Window(state.window.cwnd, of_bytes(after_loss)), given
    )


@pytest.mark.parametrize("increase", [1 / 65536, 0.03, 0.148, 0.25, 1, 3])
def test_growth_keeps_to_the_equation_within_a_segment(increase: float) -> None:
    """Each acknowledged byte adds a SMSS / cwnd, solved: cwnd^2 = start^2 + 2 a SMSS acked; the bounds are Reno's."""
    draw = random.Random(1)
    given = argument(increase, 0.5)
    state, acked, exact = starting(16, given), 0, int(increase * 65536) / 65536
    for _ in range(20_000):
        count = draw.randrange(1, 5 * SMSS)
        state, acked = acknowledge(state, count), acked + count
        equation = ((16 * SMSS) ** 2 + 2 * exact * SMSS * acked) ** 0.5
        assert equation - SMSS < cwnd(state) < equation + SMSS / 2


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
@pytest.mark.parametrize("decrease", [0, 1 / 65536, 0.125, 0.3, 0.5, 0.9, 65535 / 65536])
def test_a_loss_leaves_what_b_says_rounded_down_but_two_segments_at_least(kind: Kind, decrease: float) -> None:
    draw = random.Random(2)
    for _ in range(1000):
        flight = draw.getrandbits(draw.randint(1, 30))
        event = CongestionEvent(kind, flight=flight, segment_size=SMSS)
        after = POLICY.respond(event, starting(16, 0).window, argument(1, decrease)).window.ssthresh / of_bytes(1)
        # Doubles are exact here: 30 bits by 16.
        left = flight * (1 - int(decrease * 65536) / 65536)
        assert after == max(left // 1, 2 * SMSS)


@pytest.mark.parametrize("given", [argument(1, 0.5), 0])
def test_one_and_a_half_is_reno_bit_for_bit(given: int) -> None:
    draw = random.Random(3)
    opening = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=10, initial_ssthresh=1 << 20)
    own = POLICY.respond(opening, Window(0, 0), given)
    its = reno.POLICY.respond(opening, Window(0, 0), 0)
    window = Window(of_bytes(10 * SMSS) + 4711, of_bytes(10 * SMSS))
    for _ in range(20_000):
        event = CongestionEvent(
            kind=draw.choice([*Kind] + 30 * [Kind.ACKNOWLEDGED]),
            starting_up=draw.random() < 0.1,
            acked_bytes=draw.choice([1, SMSS, 2 * SMSS, draw.randrange(1 << 16)]),
            flight=draw.getrandbits(draw.randint(1, 30)),
            segment_size=SMSS,
        )
        own = POLICY.respond(event, window, own.policy_state)
        its = reno.POLICY.respond(event, window, its.policy_state)
        assert (own.window, AimdState.unpacked(own.policy_state).credit) == (its.window, its.policy_state << 16)
        window = (
            Window(max(own.window.ssthresh, of_bytes(SMSS)), own.window.ssthresh)
            if event.kind is Kind.LOSS
            else own.window
        )


def test_a_credit_too_large_stays_at_its_bound() -> None:
    state = acknowledge(starting(2, argument(255, 0.5)), 1 << 30)
    assert (cwnd(state), AimdState.unpacked(state.policy_state).credit) == (3 * SMSS, (1 << CREDIT_BITS) - 1)


@pytest.mark.parametrize(("increase", "decrease"), [(0, 0.5), (256, 0.5), (1, 1), (1, -0.1), (-1, 0.5)])
def test_what_no_argument_can_say_is_refused(increase: float, decrease: float) -> None:
    with pytest.raises(ValueError, match="AIMD"):
        argument(increase, decrease)


def float_error(draw: random.Random) -> float:
    """Whole segments in the place of a curve."""
    given, exact = argument(0.3, 0.2), int(0.3 * 65536) / 65536

    def equation(cwnd: float, acked: float) -> float:
        return float((cwnd**2 + 2 * exact * SMSS * acked) ** 0.5)

    return largest_error(POLICY, equation, draw, starting_up=False, argument=given)
