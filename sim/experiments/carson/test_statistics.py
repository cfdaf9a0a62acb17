# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Confidence intervals against a worked example, and what "within" means with one."""

from __future__ import annotations

from math import inf

import pytest

from sim.experiments.carson.statistics import Estimate, estimate


def test_the_interval_is_student_s() -> None:
    # NIST/SEMATECH e-Handbook 7.2.2.1: mean +- t s / sqrt(n); s = 1.5811 of 1..5, t = 2.776 with 4 degrees of freedom.
    told = estimate([1, 2, 3, 4, 5])
    assert told.mean == 3
    assert told.half_width == pytest.approx(2.776 * 1.58114 / 5**0.5, rel=1e-4)


def test_a_single_run_says_nothing() -> None:
    assert estimate([4.0]) == Estimate(4.0, inf)


@pytest.mark.parametrize(("value", "meets"), [(1.0, True), (1.10, True), (1.20, False), (0.80, False)])
def test_a_value_is_met_where_interval_and_tolerance_touch(value: float, meets: bool) -> None:
    assert Estimate(1.0, 0.07).meets(value, 0.05) is meets
