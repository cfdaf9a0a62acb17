# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The mean of a window that changes in steps."""

from __future__ import annotations

import pytest

from sim.experiments.cubic.windows import core_steps, falls, mean, mean_of_cycles

STEPS = [(0.0, 10.0), (1.0, 20.0), (3.0, 14.0), (4.0, 40.0)]


@pytest.mark.parametrize(
    ("begin", "end", "expected"), [(0, 1, 10), (0, 2, 15), (2, 4, 17), (3.5, 5, (7 + 40) / 1.5), (5, 6, 40)]
)
def test_each_step_counts_for_as_long_as_it_lasts(begin: float, end: float, expected: float) -> None:
    assert mean(STEPS, begin, end) == pytest.approx(expected)


def test_a_fall_is_a_cut_by_a_tenth() -> None:
    assert falls(STEPS) == [3.0]
    assert falls([(0.0, 100.0), (1.0, 91.0)]) == []


def test_the_mean_is_of_whole_cycles_behind_the_first() -> None:
    saw = [(0.0, 99.0), (1.0, 1.0), (3.0, 9.0), (5.0, 2.0), (6.0, 6.0), (7.0, 2.0), (9.0, 500.0)]
    assert mean_of_cycles(saw) == (4.0, 1)
    with pytest.raises(ValueError, match="2 losses are too few"):
        mean_of_cycles(saw[:5])


def test_an_inflated_window_does_not_count() -> None:
    kinds = ["acknowledged", "loss", "duplicate", "partial", "recovered"]
    rows = [
        {"live": "1", "congestion": kind, "time_ns": str(time), "cwnd": str(50 + time), "ssthresh": "30"}
        for time, kind in enumerate(kinds)
    ]
    assert [window for _, window in core_steps(rows)] == [50, 30, 30, 30, 54]
