# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Confidence intervals against a worked example."""

from __future__ import annotations

from math import inf

import pytest

from sim.experiments.engine.measures.confidence import Estimate, estimate


def test_the_interval_is_student_s() -> None:
    # NIST/SEMATECH e-Handbook 7.2.2.1: mean +- t s / sqrt(n); s = 1.5811 of 1..5, t = 2.776 with 4 degrees of freedom.
    found = estimate([1, 2, 3, 4, 5])
    assert found.mean == 3
    assert found.half_width == pytest.approx(2.776 * 1.58114 / 5**0.5, rel=1e-4)


def test_a_single_run_says_nothing() -> None:
    assert estimate([4.0]) == Estimate(4.0, inf)
