# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Statistics of data whose true figures are known."""

from __future__ import annotations

import os

import numpy as np
import pytest
from downbeat_toe.gap import statistics, steps
from downbeat_toe.gap.statistics import Floats

SEED = int(os.environ.get("SEED", "1"))
MILLISECOND = 1e6  # ns


@pytest.fixture
def random() -> np.random.Generator:
    print(f"SEED={SEED}")
    return np.random.default_rng(SEED)


def equally_spaced(count: int) -> Floats:
    return np.asarray(np.arange(count) * MILLISECOND, np.float64)


def test_the_allan_deviation_is_that_of_nist_s_test_suite() -> None:
    """NIST SP 1065, 12.4: 1,000 frequencies of a multiplicative generator; overlapping Allan deviations from its table
    32."""
    frequencies, number = [], 1234567890
    for _ in range(1000):
        frequencies.append(number / 2147483647)
        number = 16807 * number % 2147483647
    phase: Floats = np.concatenate([[0], np.cumsum(frequencies)])
    points = {round(point["tau_ns"]): point["deviation"] for point in every_tau(np.arange(1001.0), phase)}
    assert points[1] == pytest.approx(2.922319e-01, rel=1e-6)
    assert points[10] == pytest.approx(9.159953e-02, rel=1e-6)
    assert points[100] == pytest.approx(3.241343e-02, rel=1e-6)


def every_tau(times: Floats, errors: Floats) -> list[dict[str, float]]:
    return [point for tau in (1, 10, 100) if (point := statistics.deviation(times, errors, tau))]


def test_white_phase_noise_falls_with_the_interval(random: np.random.Generator) -> None:
    """Its Allan deviation is sqrt(3) sigma / T: slope -1 in the plot."""
    times = equally_spaced(20_000)
    points = statistics.allan(times, random.normal(0, 50, len(times)))
    assert len(points) > 15
    for point in points[:16]:
        assert point["deviation"] == pytest.approx(np.sqrt(3) * 50 / point["tau_ns"], rel=0.1)


def test_white_frequency_noise_falls_with_the_root_of_the_interval(random: np.random.Generator) -> None:
    """sigma / sqrt(T) where sigma is that of the frequency over one step."""
    times = equally_spaced(20_000)
    points = statistics.allan(times, np.cumsum(random.normal(0, 1e-6, len(times))) * MILLISECOND)
    for point in points[:10]:
        assert point["deviation"] == pytest.approx(1e-6 / np.sqrt(point["tau_ns"] / MILLISECOND), rel=0.1)


def test_a_constant_drift_has_no_allan_deviation() -> None:
    times = equally_spaced(1000)
    assert max(point["deviation"] for point in statistics.allan(times, 25e-6 * times)) < 1e-12


def test_frames_that_are_missing_do_not_change_the_allan_deviation(random: np.random.Generator) -> None:
    times = equally_spaced(40_000)
    errors = random.normal(0, 50, len(times))
    kept = np.sort(random.choice(len(times), 20_000, replace=False))
    for point in statistics.allan(times[kept], errors[kept])[:12]:
        assert point["deviation"] == pytest.approx(np.sqrt(3) * 50 / point["tau_ns"], rel=0.1)


@pytest.mark.parametrize("ppb", [0, 12.5, -20_000])
def test_a_drift_is_found_among_noise_and_outliers(random: np.random.Generator, ppb: float) -> None:
    """A tenth of the frames waited somewhere for up to a millisecond; least squares would be off by some hundred
    ppb."""
    times = np.cumsum(random.exponential(MILLISECOND, 5000))
    errors = 1234 + ppb * 1e-9 * times + random.normal(0, 100, len(times))
    waited = random.random(len(times)) < 0.1
    errors[waited] += random.uniform(0, MILLISECOND, np.count_nonzero(waited))
    line = statistics.fit(times, errors)
    assert abs(line.slope * 1e9 - ppb) < 6 * 100 / (np.std(times) * np.sqrt(len(times))) * 1e9
    assert line.offset == pytest.approx(1234, abs=60)


def test_the_uncertainty_of_a_drift_is_that_of_many_tries(random: np.random.Generator) -> None:
    times = equally_spaced(400)
    lines = [statistics.fit(times, random.normal(0, 100, len(times))) for _ in range(300)]
    spread = np.std([line.slope for line in lines])
    assert np.median([line.uncertainty for line in lines]) == pytest.approx(spread, rel=0.25)


def test_an_exact_line_is_found_exactly() -> None:
    times = equally_spaced(100)
    line = statistics.fit(times, 7 + 1e-6 * times)
    assert line.slope == pytest.approx(1e-6, rel=1e-9) and line.offset == pytest.approx(7, abs=1e-6)


def test_two_frames_are_enough_for_a_line_that_knows_nothing_of_itself() -> None:
    line = statistics.fit(np.array([0.0, 10.0]), np.array([0.0, 1.0]))
    assert line.slope == pytest.approx(0.1) and not np.isfinite(line.uncertainty)


def test_steps_of_the_clock_are_found_where_they_are(random: np.random.Generator) -> None:
    times = equally_spaced(1000)
    errors = random.normal(0, 50, 1000) + 40e-6 * times
    assert statistics.level_changes(times, errors) == []
    errors[[300, 301, 400]] += 1e7  # frames that waited are no step
    assert statistics.level_changes(times, errors) == []
    errors[700:] -= 2e6
    errors[850:] += 30_000
    changes = statistics.level_changes(times, errors)
    assert changes == [700, 850]
    line, offsets, parts = statistics.fit_between(times, errors, changes)
    assert line.slope == pytest.approx(40e-6, rel=0.01) and len(parts) == 3
    assert np.diff(offsets)[[699, 849]] == pytest.approx([-2e6, 30_000], abs=200)


def test_percentiles_and_histogram_count_every_gap(random: np.random.Generator) -> None:
    values = np.concatenate([np.arange(-500.0, 501), [1e6, -1e6]])
    found = statistics.percentiles(values)
    assert (found["minimum"], found["p50"], found["maximum"], found["worst"]) == (-1e6, 0, 1e6, 1e6)
    assert found["distance_p50"] == pytest.approx(250, abs=2) and found["distance_p99.9"] > 500
    assert found["p1"] == pytest.approx(-490, abs=2) and found["p99"] == pytest.approx(490, abs=2)
    drawn = statistics.histogram(values)
    assert sum(drawn["counts"]) + drawn["below"] + drawn["above"] == len(values)
    assert drawn["below"] >= 1 and drawn["above"] >= 1


def test_a_histogram_of_equal_values_has_one_bin_around_them() -> None:
    drawn = statistics.histogram(np.zeros(10))
    filled = [
        (low, high)
        for low, high, count in zip(drawn["edges_ns"], drawn["edges_ns"][1:], drawn["counts"], strict=False)
        if count
    ]
    assert filled == [(-0.5, 0.5)]


@pytest.mark.parametrize(
    ("stamps", "multiple", "step"),
    [
        ([0, 8, 24, 40], 8, 8),
        ([0, 7, 9], 1, 1),
        ([0, 1000, 5000], 1000, 1000),
        ([5, 5], 0, 1),
        ([0, 12304, 24608], 12304, 16),
    ],
)
def test_a_regular_flow_is_no_coarse_clock(stamps: list[int], multiple: int, step: int) -> None:
    """Back-to-back frames of a simulation are 12,304 ns apart, always; no clock has such a step."""
    assert steps.apart(np.array(stamps)) == multiple and steps.clock_step(multiple) == step
