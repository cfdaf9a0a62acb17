# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The sweep of the logistic unit's golden model, on a thousandth of its requests."""

from __future__ import annotations

import pytest

from sim.bench import logistic as accuracy


def test_a_batch_of_the_sweep_keeps_to_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "BATCH", 1000)
    worst = accuracy.measure(1)
    assert worst.request is not None
    assert 0 < worst.error < accuracy.TOLERANCE


def test_the_units_exponential_is_the_best_of_the_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "EXPONENTS", 2000)
    worst = accuracy.exponentials()
    assert worst["published"] == pytest.approx(0.00366, abs=2e-4)
    assert worst["nearest_below_10"] == pytest.approx(0.0004, abs=2e-5)
    assert worst["unit"] < 2**-33
