# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The equations of LISS, ISS, MISS and SPAND: published examples, the papers' equations in floats, and exact whole
numbers."""

from __future__ import annotations

import itertools
from ctypes import CDLL
from fractions import Fraction

import pytest
from downbeat_toe.estimator.library import load
from hypothesis import given
from hypothesis import strategies as st

from sw.tests.estimator import equations

ONE = 1 << 16
SECOND = 10**9
WINDOWS = st.integers(0, 65_535 << 16)


@pytest.fixture(scope="module", autouse=True)
def _built(library: CDLL) -> None:
    """Hypothesis' tests load what this fixture has built."""


@pytest.mark.parametrize(
    ("starting", "steady", "oldest", "ssthresh"),
    [(0, 1, 20, 10), (0, 4, 20, 16), (12, 3, 20, 15.6522), (50, 2, 30, 23.5714), (100, 1, 8, 7.4483)],
)
def test_liss_is_the_fair_share(library: CDLL, starting: int, steady: int, oldest: int, ssthresh: float) -> None:
    found = library.downbeat_liss(starting * ONE, steady, oldest * ONE)
    assert found / ONE == pytest.approx(ssthresh, abs=1e-4)
    assert found / ONE == pytest.approx(equations.liss(starting, steady, oldest), abs=1 / ONE)
    assert library.downbeat_liss(starting, steady, oldest) == int(ssthresh)  # whole segments


@pytest.mark.parametrize(("starting", "steady", "oldest"), [(0, 0, 0), (5, 0, 0), (5, 1, 0), (5, 0, 9)])
def test_liss_says_nothing_without_a_steady_connection(library: CDLL, starting: int, steady: int, oldest: int) -> None:
    assert library.downbeat_liss(starting, steady, oldest) == 0


@given(st.integers(0, 1 << 48), st.integers(0, 65_536), WINDOWS)
def test_liss_is_exact_and_below_the_oldest_window(starting: int, steady: int, oldest: int) -> None:
    found = load().downbeat_liss(starting, steady, oldest)
    assert found == equations.liss_whole(starting, steady, oldest) <= oldest


def test_awnd_follows_a_constant_window(library: CDLL) -> None:
    wanted = {1: 656670, 10: 668338, 100: 774160, 500: 1069573, 1000: 1221888}
    average, exact = 10 * ONE, 10.0
    for ack in range(1, 1001):
        average, exact = library.downbeat_awnd(average, 20 * ONE), equations.awnd(exact, 20)
        assert average == wanted.get(ack, average)
    assert average / ONE == pytest.approx(exact, rel=4e-4)
    assert equations.awnd_together(10 * ONE, 20 * ONE, 1000) / ONE == pytest.approx(exact, rel=1e-6)


@given(WINDOWS, WINDOWS)
def test_awnd_is_exact_and_between_its_arguments(average: int, cwnd: int) -> None:
    found = load().downbeat_awnd(average, cwnd)
    assert found == equations.awnd_whole(average, cwnd)
    assert min(average, cwnd) <= found <= max(average, cwnd)


ALL, EACH_SECOND = [0.0, 1.0, 1.9, 3.0, 3.9], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize(
    ("times", "interval"),
    [(ALL, 0.948148), ([1.0, 3.9], 2.9), (EACH_SECOND, 1.0), ([0.0, 3.0, 6.0], 3.0), ([3.0], 0.0)],
)
def test_the_interval_between_drops_is_smoothed(library: CDLL, times: list[float], interval: float) -> None:
    assert _interval(library, times, 2) / SECOND == pytest.approx(interval, abs=1e-6)
    for thirds in (1, 2):
        smoothed = equations.smoothed(times, thirds / 3) or 0.0
        assert _interval(library, times, thirds) / SECOND == pytest.approx(smoothed, abs=1e-6)


def _interval(library: CDLL, times: list[float], thirds: int) -> int:
    interval = 0
    for count, (before, after) in enumerate(itertools.pairwise(times)):
        interval = library.downbeat_drop_interval(interval, count, round((after - before) * SECOND), thirds)
    return interval


# Segments, W_c, b; N of an epoch; Eq. 3, after the shift; round trips of both.
SPAND = [
    (11, 10, 1, 66, 9, 5, 2, 2),  # figure 4
    (10, 9, 2, 89, 9, 5, 2, 2),  # the other small set that gives 9 and 5
    (30, 10, 1, 66, 7, 6, 4, 4),
    (30, 10, 2, 111, 9, 7, 4, 4),
    (30, 20, 1, 206, 19, 15, 2, 2),
    (30, 40, 1, 711, 40, 30, 1, 1),
    (30, 7, 2, 59, 5, 4, 6, 6),
    (100, 10, 1, 66, 7, 7, 12, 12),
    (5, 10, 1, 66, 10, 5, 1, 1),
    (250, 16, 2, 249, 16, 8, 21, 21),
]


@pytest.mark.parametrize(("segments", "window", "ratio", "epoch", "first", "shifted", "rounds", "after"), SPAND)
def test_spand_ends_the_transfer_with_an_epoch(
    library: CDLL, segments: int, window: int, ratio: int, epoch: int, first: int, shifted: int, rounds: int, after: int
) -> None:
    assert equations.epoch(window, Fraction(ratio)) == epoch
    assert library.downbeat_spand(segments, window, ratio << 8, 0) == first
    assert library.downbeat_spand(segments, window, ratio << 8, 1) == shifted
    assert equations.rounds(segments, first, window, ratio) == rounds
    assert equations.rounds(segments, shifted, window, ratio) == after


FIGURE_5 = {
    1: {3: (1, 1), 5: (4, 3), 8: (4, 4), 10: (7, 6), 12: (10, 9), 15: (13, 9), 20: (19, 15), 25: (24, 15)}
    | {30: (30, 30), 40: (40, 30), 60: (60, 30)},
    2: {3: (1, 1), 5: (1, 1), 8: (7, 7), 10: (9, 7), 12: (11, 7), 15: (15, 15), 20: (20, 15), 25: (25, 15)}
    | {30: (30, 15), 40: (40, 15), 60: (60, 15)},
}


@pytest.mark.parametrize("ratio", FIGURE_5)
def test_spand_figure_5(library: CDLL, ratio: int) -> None:
    for window, wanted in FIGURE_5[ratio].items():
        found = tuple(library.downbeat_spand(30, window, ratio << 8, shift) for shift in (0, 1))
        assert found == wanted, f"W_c {window}"


def test_no_start_without_a_loss_takes_fewer_round_trips() -> None:
    """Each start window is tried. The shift loses no round trip of the epoch that is left."""
    library = load()
    for ratio in (1, 2):
        for window in range(2, 12):
            epoch = int(equations.epoch(window, Fraction(ratio)))
            for segments in range(1, min(_sent(1, window, ratio), epoch) + 1):
                starts = [library.downbeat_spand(segments, window, ratio << 8, shift) for shift in (0, 1)]
                took = [equations.rounds(segments, start, window, ratio) for start in starts]
                lossless = [start for start in range(1, window + 1) if _sent(start, window, ratio) >= segments]
                assert took[0] == min(equations.rounds(segments, start, window, ratio) for start in lossless)
                assert took[1] <= ratio * (window - starts[0] + 1), (segments, window, ratio)


def _sent(start: int, window: int, ratio: int) -> int:
    """Segments from a start window up to the epoch's end."""
    return ratio * sum(range(start, window + 1))


@given(st.integers(0, 1 << 40), st.integers(0, 3000), st.integers(0, 1 << 15), st.booleans())
def test_spand_is_exact_and_within_its_mean(segments: int, window: int, ratio: int, shift: bool) -> None:
    found = load().downbeat_spand(segments, window, ratio, shift)
    bounded = Fraction(min(max(ratio, 256), 64 * 256), 256)
    assert found == equations.spand(segments, window, bounded, shift)
    assert found <= window and bool(found) == bool(window)
