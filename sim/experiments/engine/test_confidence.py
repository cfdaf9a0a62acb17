# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Confidence intervals against a worked example, and what "within" means with one."""

from __future__ import annotations

from math import inf

import pytest

from sim.experiments.engine.confidence import Estimate, estimate


def test_the_interval_is_student_s() -> None:
    # NIST/SEMATECH e-Handbook 7.2.2.1: mean +- t s / sqrt(n); s = 1.5811 of 1..5, t = 2.776 with 4 degrees of freedom.
    told = estimate([1, 2, 3, 4, 5])
    assert told.mean == 3
    assert told.half_width == pytest.approx(2.776 * 1.58114 / 5**0.5, rel=1e-4)


def test_a_single_run_says_nothing() -> None:
    assert estimate([4.0]) == Estimate(4.0, inf)


@pytest.mark.parametrize(
    ("value", "half_width", "verdict"),
    [
        *((1.0, 0.04, "yes"), (1.0, 0.05, "yes"), (1.0, 0.06, "too few seeds"), (1.0, inf, "too few seeds")),
        *((1.04, 0.02, "too few seeds"), (1.2, 0.07, "no"), (0.8, 0.07, "no"), (1.2, 0.2, "too few seeds")),
    ],
)
def test_a_wide_interval_neither_agrees_nor_differs(value: float, half_width: float, verdict: str) -> None:
    assert Estimate(1.0, half_width).verdict(value, 0.05) == verdict


def test_fewer_seeds_never_agree_more_easily() -> None:
    ratios = [1.01, 0.99, 1.03, 0.98, 1.0, 1.02, 0.97, 1.0]
    for value in (0.95, 1.0, 1.04, 1.2):
        agrees = [estimate(ratios[:count]).verdict(value, 0.05) == "yes" for count in (1, 2, len(ratios))]
        assert not agrees[0], "one run says nothing"
        assert agrees[1] <= agrees[2]
