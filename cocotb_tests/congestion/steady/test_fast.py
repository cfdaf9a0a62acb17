# SPDX-License-Identifier: BSD-2-Clause-Patent
"""FAST: the RTL is its golden model's, bit for bit, and the golden model keeps to the thesis's equation 19."""

from __future__ import annotations

import itertools
import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.steady.timed import SECOND, SMSS, Path
from sim.golden.calculation.queue_share import Request, share
from sim.golden.congestion.seam import Calculated, CongestionEvent, Kind, Window, of_bytes
from sim.golden.congestion.steady.fast import POLICY, FastState, argument

MILLISECOND = 1_000_000


def test_fast() -> None:
    run_module("PolicyFast", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Little or much owed, samples waited for, a queue about to be none."""
    return FastState(
        alpha=draw.choice([2, 100, draw.getrandbits(16)]),
        every=draw.choice([1, 2]),
        mi=draw.random() < 0.5,
        owed=draw.choice([0, event.acked_bytes, event.acked_bytes + 1, draw.getrandbits(32)]) % (1 << 32),
        flight=draw.choice([0, event.flight]),
        w_old=draw.getrandbits(draw.randint(1, 32)),
        round_trip=draw.choice([0, 0, (event.rtt_minimum + 750_000 + draw.randint(-1, 1)) % (1 << 36)]),
        skips=draw.random() < 0.5,
    ).packed()


def step(cwnd: int, sent: int, base: int, rtt: int, alpha: int) -> tuple[float, float]:
    """cwnd and what it may still grow by after a sample, segments; windows in segments, times in ms."""
    request = Request(sent * SMSS, rtt * MILLISECOND, 1, base * MILLISECOND)
    given = Calculated(share(request), note=request.window)
    window = Window(of_bytes(cwnd * SMSS), of_bytes(2 * SMSS))
    event = CongestionEvent(Kind.CALCULATED, calculated=given, segment_size=SMSS)
    after = POLICY.respond(event, window, FastState(alpha).packed())
    return after.window.cwnd / of_bytes(SMSS), FastState.unpacked(after.policy_state).owed / SMSS


@pytest.mark.parametrize(
    ("window", "base", "rtt", "alpha", "after"),
    # Vectors of the specification, the last without a limit of 2 w.
    [
        (50, 100, 100, 20, 60.0),
        (50, 100, 110, 20, 57.7273),
        (220, 100, 110, 20, 220.0),
        (300, 100, 110, 20, 296.3636),
        (5, 60, 60, 100, 55.0),
    ],
)
def test_a_sample_moves_the_window_by_equation_19(window: int, base: int, rtt: int, alpha: int, after: float) -> None:
    cwnd, owed = step(window, window, base, rtt, alpha)
    assert cwnd + owed == pytest.approx(after, abs=1.5 / SMSS)
    assert owed == 0 or cwnd == window, "growth comes with ACKs"


def test_a_window_grows_by_no_more_than_is_acknowledged() -> None:
    path = Path(POLICY, 12_500_000, 60 * MILLISECOND, argument(100), segments=5)
    sizes = [path.cwnd]
    for _ in range(6):
        path.round()
        sizes.append(path.cwnd)
    assert all(after <= 2 * before for before, after in itertools.pairwise(sizes))
    assert sizes[-1] > 8 * sizes[0]


@pytest.mark.parametrize(
    ("capacity", "alpha", "seconds"), [(12_500_000, 100, 2.5), (1_250_000, 10, 2.5), (1_250_000, 50, 2.5)]
)
@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("mi", [False, True])
def test_alpha_segments_wait_in_the_queue(capacity: int, alpha: int, seconds: float, every: int, mi: bool) -> None:
    """w* = BDP + alpha; from there on the window stays. Every second sample takes twice as long."""
    path = Path(POLICY, capacity, 60 * MILLISECOND, argument(alpha, every, mi=mi), segments=10)
    expected = capacity * 0.06 / SMSS + alpha
    while path.now < every * seconds * SECOND:
        path.round()
    assert path.cwnd == pytest.approx(expected, rel=0.02)
    for _ in range(10):
        path.round()
    assert path.cwnd == pytest.approx(expected, rel=0.005)


def test_a_window_too_large_comes_down_at_once_and_takes_ssthresh_along() -> None:
    path = Path(POLICY, 1_250_000, 60 * MILLISECOND, argument(10), segments=200)
    path.smallest = 60 * MILLISECOND
    path.round()
    path.round(2)
    assert path.cwnd < 200 and path.ssthresh == path.cwnd
    for _ in range(200):
        path.round()
    assert path.cwnd == pytest.approx(1_250_000 * 0.06 / SMSS + 10, rel=0.01)


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_a_loss_halves(kind: Kind) -> None:
    state = FastState(owed=5, round_trip=7, w_old=9).packed()
    event = CongestionEvent(kind, flight=41 * SMSS, segment_size=SMSS)
    after = POLICY.respond(event, Window(of_bytes(50 * SMSS), 0), state)
    assert after.window.ssthresh == of_bytes(41 * SMSS // 2)
    left = FastState.unpacked(after.policy_state)
    assert (left.owed, left.round_trip) == (0, 0)


def test_an_answer_from_before_a_loss_moves_nothing() -> None:
    given = Calculated(0, note=1 << 30, stale=True)
    window = Window(of_bytes(50 * SMSS), of_bytes(2 * SMSS))
    after = POLICY.respond(CongestionEvent(Kind.CALCULATED, calculated=given), window, FastState(round_trip=7).packed())
    assert (after.window, FastState.unpacked(after.policy_state)) == (window, FastState())


@pytest.mark.parametrize(("alpha", "every"), [(1, 1), (0, 1), (1 << 16, 1), (100, 0), (100, 3)])
def test_what_no_argument_can_say_is_refused(alpha: int, every: int) -> None:
    with pytest.raises(ValueError, match="alpha from 2"):
        argument(alpha, every)


def float_error(draw: random.Random) -> float:
    """The error of the window that a sample leads to, against equation 19 in floats."""
    worst = 0.0
    for _ in range(5000):
        cwnd, sent, alpha = draw.randrange(2, 100_000), draw.randrange(2, 100_000), draw.randrange(2, 1000)
        base = draw.randrange(1, 200)
        rtt = base + draw.randrange(200)
        exact = (cwnd + base / rtt * sent + alpha) / 2
        worst = max(worst, abs(sum(step(cwnd, sent, base, rtt, alpha)) - exact) / exact)
    return worst
