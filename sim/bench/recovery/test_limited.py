# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=recovery` in small: a window that is not used does not grow."""

from __future__ import annotations

import pytest

from sim.bench.recovery.limited import CASES, LARGE, bound, largest_window, over_limit

ROUND_TRIPS = 60


def test_no_policy_grows_a_window_that_is_not_used() -> None:
    assert len(CASES) > 20
    assert over_limit(ROUND_TRIPS) == []


@pytest.mark.parametrize("case", [("standard", "reno", LARGE), ("hystart", "reno", LARGE)])
def test_without_the_limit_it_does(case: tuple[str, str, int]) -> None:
    assert largest_window(case, ROUND_TRIPS, limited=False) > 2 * bound(LARGE)
