# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Jain's index, against the values that its paper gives."""

from __future__ import annotations

import pytest

from sim.experiments.fairness.__main__ import jain


def test_equal_shares_are_1_and_one_of_n_alone_is_1_of_n() -> None:
    assert jain([3.0] * 64) == pytest.approx(1)
    assert jain([1.0] + [0.0] * 63) == pytest.approx(1 / 64)
    assert jain([1.0] * 20 + [0.0] * 80) == pytest.approx(0.2)
    assert jain([0.0, 0.0]) == 0
