# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One gap +- x at 95 %: right as often as it says, over captures whose true gaps are known."""

from __future__ import annotations

import os
from typing import Any, cast

import numpy as np
import pytest
from downbeat_toe.gap import selftest, uncertainty
from downbeat_toe.gap.means import mean
from downbeat_toe.gap.statistics import Floats, allan
from downbeat_toe.gap.verdict import Stamping, judge, rounded

from sw.tests.gap.made_up import Draw, Instrument, captured

SEED = int(os.environ.get("SEED", "1"))
SOAK = bool(os.environ.get("SOAK"))
CAPTURES = 10_000 if SOAK else 80
GAPS = 1 if SOAK else 30  # of each capture, that are looked at
TOLERANCE = 0.01 if SOAK else 0.02
MILLISECOND = 1e6  # ns


def kernel(draw: Draw, count: int) -> Floats:
    """Latency of a stamp as kernels have it: most within 100 ns, few beyond 10 us."""
    return np.asarray(draw.lognormal(3.0, 1.0, count) + (draw.random(count) < 0.01) * draw.exponential(10_000, count))


CASES = {
    "NIC, 8 ns": (Instrument(8), 60, MILLISECOND),
    "NIC, 1 ns": (Instrument(1), 60, MILLISECOND),
    "microseconds": (Instrument(1000), 60, MILLISECOND),
    "NIC, few frames and long gaps": (Instrument(8), 20, 100 * MILLISECOND),
    "NIC, path with a queue": (Instrument(8, path=2000.0), 200, MILLISECOND),
    "kernel": (Instrument(1, error=kernel), 60, MILLISECOND),
}


@pytest.mark.parametrize("name", CASES)
def test_the_interval_has_the_true_gap_in_95_of_100_captures(name: str) -> None:
    print(f"SEED={SEED}")
    instrument, count, gap = CASES[name]
    draw = np.random.default_rng([SEED, len(name)])
    stamping = _selftest(draw, instrument)
    inside = total = 0
    for _ in range(CAPTURES):
        analysis, true = captured(draw, instrument, count, gap)
        verdict = judge(analysis, stamping)
        slope = analysis.data["drift"]["ppb"] * 1e-9 if analysis.data["drift"]["removed"] else 0.0
        # The measured gap in the schedule's time: what the report calls gap, for these pairs.
        measured = analysis.gaps + analysis.gap_errors / (1 + slope)
        looked = draw.choice(len(true), min(GAPS, len(true)), replace=False)
        inside += int(np.count_nonzero(np.abs(measured - true)[looked] <= verdict["half_width_ns"]))
        total += len(looked)
    coverage = inside / total
    print(f"{name}: {coverage:.4f} of {total}")
    assert coverage == pytest.approx(0.95, abs=TOLERANCE)


def _selftest(draw: Draw, instrument: Instrument) -> Stamping:
    if instrument.error is None:
        return Stamping(False)
    analysis, _ = captured(draw, Instrument(1, error=instrument.error), 5000, 2e5)
    return Stamping(True, np.array(selftest.floor(analysis)["quantiles_ns"]), "of the same machine")


def test_two_stamps_of_one_step_are_a_triangle() -> None:
    """JCGM 101, 6.4.5: half width at 95 % is q (1 - sqrt(0.05)); twice its standard uncertainty would be 0.816 q."""
    cause = uncertainty.stamps("", 8)
    assert uncertainty.half_width([cause]) == pytest.approx(8 * (1 - 0.05**0.5), rel=0.01)
    assert cause.standard == pytest.approx(8 / 6**0.5, rel=0.01)


def test_independent_causes_add_by_their_squares() -> None:
    """Two normal ones: 1.96 times the root of the sum of squares."""
    causes = [uncertainty.drift(1e6, 3e-6), uncertainty.wander(1e6, 4e-8)]
    expected = 1.96 * (3.0**2 + 0.04**2) ** 0.5
    assert uncertainty.half_width(causes) == pytest.approx(expected, rel=0.02)


def test_unknown_drift_is_that_of_two_ethernet_clocks() -> None:
    """IEEE 802.3: 100 ppm each; even within 200 ppm, 95 % within 190."""
    assert uncertainty.half_width([uncertainty.drift(1e6, None)]) == pytest.approx(190, rel=0.01)


def test_wander_is_what_white_noise_does_not_explain() -> None:
    draw = np.random.default_rng(SEED)
    times: Floats = np.arange(2000.0) * MILLISECOND
    white: Floats = draw.normal(0, 5, len(times))
    walk = np.cumsum(draw.normal(0, 1e-6, len(times))) * MILLISECOND
    span = float(times[-1])
    assert uncertainty.wander_of(allan(times, white), span) < 3e-8
    found = uncertainty.wander_of(allan(times, white + walk), span)
    assert found == pytest.approx(1e-6 / np.sqrt(span / 10 / MILLISECOND), rel=0.5)


def test_the_mean_s_interval_knows_that_neighbours_share_a_stamp() -> None:
    """The mean of n such gaps is as good as two stamps over n; of independent errors it is sigma / sqrt(n)."""
    draw = np.random.default_rng(SEED)
    inside = 0
    for _ in range(400):
        found = mean(draw.normal(7, 100, 100))
        assert found["half_width"] is not None
        inside += abs(found["value"] - 7) <= found["half_width"]  # type: ignore[operator]
    assert inside / 400 == pytest.approx(0.95, abs=0.04)
    shared = mean(np.diff(draw.normal(0, 100, 1001)))
    assert shared["standard_error"] is not None and shared["standard_error"] < 0.5 * 141 / 1000**0.5
    assert mean(np.array([3.0])) == {"value": 3.0, "standard_error": None, "half_width": None}


def test_few_gaps_are_too_short_to_judge() -> None:
    draw = np.random.default_rng(SEED)
    analysis, _ = captured(draw, Instrument(8), 8, MILLISECOND)
    verdict = judge(analysis, Stamping(False))
    assert verdict["too_short"] and verdict["sentences"][0].startswith("Too short to judge: 7 undisturbed gaps")
    assert "(95 %)" in verdict["sentences"][0]


def test_the_kernel_s_stamps_have_no_floor_without_a_selftest() -> None:
    analysis, _ = captured(np.random.default_rng(SEED), Instrument(1), 60, MILLISECOND)
    verdict = judge(analysis, Stamping(True))
    assert verdict["half_width_ns"] is None and verdict["floor_ns"] is None
    assert "downbeat gap selftest, then --selftest FILE" in verdict["sentences"][0] and not verdict["sure"]


def test_a_precision_is_sure_only_where_it_is_known_who_stamped() -> None:
    analysis, _ = captured(np.random.default_rng(SEED), Instrument(8), 60, MILLISECOND)
    assert judge(analysis, Stamping(False))["sure"] and judge(analysis, Stamping(False))["sentences"][0].startswith(
        "One gap"
    )
    unknown = judge(analysis, Stamping(None))
    assert not unknown["sure"] and unknown["sentences"][0].startswith("If a NIC stamped at the wire, one gap of")


@pytest.mark.parametrize(("value", "text"), [(6.21, "6.3"), (1234, "1,300"), (0.0111, "0.012"), (8, "8"), (0, "0")])
def test_an_interval_never_shrinks_in_print(value: float, text: str) -> None:
    assert rounded(value) == text


@pytest.mark.parametrize(("ppm", "why_not"), [(199.9, None), (-199.9, None), (200.1, "no clock drifts so")])
def test_the_drift_of_two_clocks_is_at_most_200_ppm(ppm: float, why_not: str | None) -> None:
    """IEEE 802.3: 100 ppm each; a steeper slope is the path's and stays in the gaps."""

    class Fixed:
        """Draws that are all in the middle, but for the clock's rate."""

        def uniform(self, low: float, high: float, count: int | None = None) -> Any:
            even = np.linspace(0.95, 1.05, count) if count else None
            return even if even is not None else high if low == -ppm else 0.0

    analysis, _ = captured(cast(Draw, Fixed()), Instrument(1, ppm=ppm), 200, MILLISECOND)
    drift = analysis.data["drift"]
    assert drift["why_not"] == why_not and drift["removed"] == (why_not is None)
    assert drift["ppb"] == pytest.approx(1000 * ppm, abs=1)
