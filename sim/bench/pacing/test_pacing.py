# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=pacing` in small: order among 16, 1,024 and 65,536 flows, rates, changes of the rate, flights of n
segments."""

from __future__ import annotations

import os

import pytest

from sim.bench.pacing.__main__ import LAUNCH_UNIT, MAX_RATE_ERROR, RATES, flight, order, rate, run
from sim.lib import build

SEED = int(os.environ.get("SEED") or 1)
CLOCKS_BETWEEN_GRANTS = {16: 15, 1024: 31, 65536: 49}  # docs/reference/pacing.md
SMALL, MIDDLE, LARGE = build.PACER_FLOWS


@pytest.mark.parametrize("flows", [SMALL, pytest.param(MIDDLE, marks=pytest.mark.soak), LARGE])
def test_the_earliest_is_granted_first(flows: int) -> None:
    result = order(flows, SEED, 20_000)
    assert result["grants"] >= 20_000 and result["several_due"] > 100
    assert result["clocks_between_grants"] == [CLOCKS_BETWEEN_GRANTS[flows]] * 2
    assert result["clocks_time_to_grant"] == [8, 8]


@pytest.mark.parametrize("bits_per_second", RATES)
def test_a_rate_is_met(bits_per_second: int) -> None:
    """Within 1e-9, of which the pacer has none."""
    result = rate(bits_per_second, SEED, 20)
    assert result["segments"] >= 100
    assert abs(result["rate_error"]) < MAX_RATE_ERROR and 0 <= result["pacer_error_ns"] < LAUNCH_UNIT


def test_a_change_of_rate_takes_effect_at_the_next_departure_without_gap_or_burst() -> None:
    result = run("changes", SEED, 20_000)
    assert result["segments"] == 20_000 and result["replaced"] > 1000


@pytest.mark.parametrize("duration", [1_000_000, 999_999_937, 10**10])
@pytest.mark.parametrize("segments", [2, 187, 4096])
def test_n_segments_over_r_leave_in_their_nanosecond(segments: int, duration: int) -> None:
    """The i-th at t0 + floor(i R / n), for n up to 4,096 and R up to 10 s; the bound is docs/reference/pacing.md's."""
    result = flight(segments, duration, 1460)
    assert result["worst_error_ns"] <= result["bound_ns"] + 2**-32 <= segments * 1460 * 2**-32 + 2 * LAUNCH_UNIT
    assert result["other_ticks"] <= segments // 50, "only where i R / n is almost the next whole ns"
