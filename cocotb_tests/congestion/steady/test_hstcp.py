# SPDX-License-Identifier: BSD-2-Clause-Patent
"""HighSpeed TCP: the RTL is its golden model's, bit for bit, and the golden model keeps to RFC 3649."""

from __future__ import annotations

import random
from math import exp, log
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.steady import reno
from sim.golden.congestion.steady.hstcp import LOW, POLICY, ROWS, TABLE, HstcpState, begin

SMSS = 1460
# RFC 3649 Appendix B: cwnd, a, b in 256ths.
PUBLISHED = [(38, 1, 128), (118, 2, 112), (221, 3, 104), (495, 5, 93), (1058, 8, 83), (5036, 20, 62), (12082, 32, 51)]
PUBLISHED += [(44694, 58, 33), (53677, 62, 31), (84035, 71, 25), (89053, 72, 24)]


def test_hstcp() -> None:
    run_module("PolicyHstcp", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near, at_a_row)


def at_a_row(draw: random.Random, event: CongestionEvent) -> Window:
    """The row's first window, or the last one before it."""
    begins = begin(draw.randint(2, ROWS), linux=draw.random() < 0.5)
    cwnd = of_bytes(begins * event.segment_size) + draw.choice([-1, 0])
    return Window(cwnd, cwnd)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """The window about to leave its row, or the credit about to be enough."""
    whole, linux = window.cwnd >> 16, draw.random() < 0.5
    segments = whole / event.segment_size + draw.choice([-0.001, 0, 0, 0.001])
    row = max((n for n in range(1, ROWS + 1) if begin(n, linux=linux) <= segments), default=1)
    row = min(max(row + draw.choice([-1, 0, 0, 1]), 0), 127)
    credit = max(of_bytes(whole - row * event.acked_bytes) + draw.randint(-1, 1), 0)
    return HstcpState(linux, row, credit).packed()


# ---- the table


@pytest.mark.parametrize(("window", "a", "b"), PUBLISHED)
def test_the_table_is_rfc_3649_s(window: int, a: int, b: int) -> None:
    assert TABLE[a - 1] == (window, b)
    assert len(TABLE) == ROWS


def formula_b(window: float) -> float:
    """RFC 3649 5, by its names."""
    return (0.1 - 0.5) * (log(window) - log(38)) / (log(83000) - log(38)) + 0.5


def formula_a(window: float) -> float:
    """With p(w) of section 5, which is not rounded to 0.078 / w^1.2."""
    share = (log(window) - log(38)) / (log(83000) - log(38))
    p = exp(share * (log(1e-7) - log(1e-3)) + log(1e-3))
    return window**2 * p * 2 * formula_b(window) / (2 - formula_b(window))


def test_a_row_is_near_the_formula_and_half_of_it_at_least() -> None:
    for window in range(LOW, 89_000, 37):
        row = max(number for number in range(1, ROWS + 1) if begin(number, linux=False) <= window)
        assert 0.95 * formula_a(window) - 1.3 < row < formula_a(window) + 1
        assert row > 0.48 * formula_a(window)
        # b is that of the row's begin, so at most one row's fall above.
        assert -1 / 256 <= TABLE[row - 1][1] / 256 - formula_b(window) < 0.06


# ---- the policy


def starting(segments: float, linux: bool = False) -> PolicyResult:
    """In the row that holds."""
    window = of_bytes(round(segments * SMSS))
    state = PolicyResult(Window(window, window), HstcpState(linux, 1).packed())
    for _ in range(ROWS):
        state = POLICY.respond(CongestionEvent(Kind.SENT, segment_size=SMSS), state.window, state.policy_state)
    return state


def row(state: PolicyResult) -> int:
    return HstcpState.unpacked(state.policy_state).row


def acknowledge(state: PolicyResult, acked: int) -> PolicyResult:
    event = CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=acked, segment_size=SMSS)
    return POLICY.respond(event, state.window, state.policy_state)


@pytest.mark.parametrize(
    ("segments", "own", "linux"),
    # Linux' reading: vectors of the specification, columns "table a" and "w after loss".
    [
        (10, 1, 1),
        (38, 1, 1),
        (39, 1, 2),
        (117, 1, 2),
        (118, 2, 2),
        (119, 2, 3),
        (221, 3, 3),
        (495, 5, 5),
        (496, 5, 6),
        (1058, 8, 8),
        (5036, 20, 20),
        (12082, 32, 32),
        (44694, 58, 58),
        (83981, 70, 71),
    ],
)
def test_a_row_holds_from_its_window_on_and_for_linux_up_to_it(segments: int, own: int, linux: int) -> None:
    assert (row(starting(segments)), row(starting(segments, linux=True))) == (own, linux)


@pytest.mark.parametrize(
    ("segments", "after"),
    [
        (10, 5),
        (38, 19),
        (39, 22),
        (118, 67),
        (119, 71),
        (221, 132),
        (495, 316),
        (1058, 715),
        (5036, 3817),
        (12082, 9676),
        (44694, 38933),
        (83981, 75780),
    ],
)
def test_a_loss_takes_the_share_of_the_row(segments: int, after: int) -> None:
    """Linux' reading, in segments rounded up; vectors of the specification."""
    state = starting(segments, linux=True)
    event = CongestionEvent(Kind.LOSS, flight=segments * SMSS, segment_size=SMSS)
    ssthresh = POLICY.respond(event, state.window, state.policy_state).window.ssthresh / of_bytes(SMSS)
    assert after - 1 < ssthresh <= after


@pytest.mark.parametrize("segments", [200, 1000, 20_000])
def test_a_window_of_acks_adds_a_segments(segments: int) -> None:
    state = starting(segments)
    rows = row(state)
    for _ in range(segments):
        state = acknowledge(state, SMSS)
    assert rows - 1 <= (state.window.cwnd - of_bytes(segments * SMSS)) / of_bytes(SMSS) <= rows


def test_below_38_segments_it_is_reno() -> None:
    own, its = starting(16), PolicyResult(starting(16).window, 0)
    for _ in range(600):
        own = acknowledge(own, SMSS)
        event = CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=SMSS, segment_size=SMSS)
        its = reno.POLICY.respond(event, its.window, its.policy_state)
        assert own.window == its.window


@pytest.mark.parametrize("segments", [119, 1000, 12_000, 89_000, 120_000])
def test_a_loss_takes_the_row_down_by_four_at_most(segments: int) -> None:
    state = starting(segments)
    before = row(state)
    event = CongestionEvent(Kind.LOSS, flight=segments * SMSS, segment_size=SMSS)
    left = POLICY.respond(event, state.window, state.policy_state).window.ssthresh / of_bytes(SMSS)
    assert before - 4 <= row(starting(left)) <= before


def float_error(draw: random.Random) -> float:
    """The error of a growth of a SMSS^2 / cwnd for a segment with the row's a, over a few windows."""
    worst = 0.0
    for _ in range(40):
        segments = draw.randrange(40, 3000)
        state = starting(segments)
        exact = segments * SMSS
        for _ in range(2000):
            acked = draw.randrange(1, 5 * SMSS)
            exact = (exact**2 + 2 * row(state) * SMSS * acked) ** 0.5
            state = acknowledge(state, acked)
            worst = max(worst, abs(state.window.cwnd / of_bytes(1) - exact) / exact)
    return float(worst)
