# SPDX-License-Identifier: BSD-2-Clause-Patent
"""MISS in the core: n from the host's m and t_next and the handshake's round trip, and the thesis's equation."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.golden.calculation.miss_window import CALCULATOR, MAX_WINDOW, Request, Response, segments
from sw.tests.estimator import equations

MILLISECOND = 10**6
NOW = 5_000 * MILLISECOND


@pytest.mark.parametrize(
    ("rate", "until_drop_us", "window"),
    [
        (768, 750_000, 22),
        (783, 748_148, 22),
        (768, 0, 0),
        (768, 100_000, 3),
        (768, -5, 0),
        (0, 750_000, 0),
        (768, 30_000, 0),
    ],
)
def test_the_segments_before_the_next_drop(rate: int, until_drop_us: int, window: int) -> None:
    request = Request.at(rate, NOW + until_drop_us * 1000, NOW, 100 * MILLISECOND)
    assert segments(request) == window
    response = Response.unpacked(CALCULATOR.unit()(request.packed()))
    assert response == Response(window, (100 * MILLISECOND << 8) // window if window else 0)


def test_no_round_trip_and_a_limit() -> None:
    assert segments(Request.at(768, NOW + 750 * MILLISECOND, NOW, 0)) == 0
    assert segments(Request.at(768, NOW + 750 * MILLISECOND, NOW, 100 * MILLISECOND, max_window=15)) == 15


@given(st.integers(1, 10**12), st.integers(1, 10**12), st.integers(0, 10**12), st.integers(10**3, 10**10))
def test_it_is_the_equation_but_for_the_places_of_m(gamma: int, delta: int, elapsed: int, round_trip: int) -> None:
    rate = (gamma << 8) // delta
    if rate >= 1 << 24:
        return
    found = segments(Request.at(rate, NOW + delta, NOW + elapsed, round_trip))
    exact = equations.miss(Fraction(gamma), Fraction(delta), Fraction(elapsed), Fraction(round_trip)) or 0  # type: ignore[arg-type]
    lost = Fraction(max(delta - elapsed, 0), round_trip * 256)  # m is rounded down to 1/256
    assert min(exact, MAX_WINDOW) - lost - 1 <= found <= exact


@given(st.integers(0, (1 << CALCULATOR.request_bits) - 1))
def test_every_request_has_a_response_that_fits(requested: int) -> None:
    response = Response.unpacked(CALCULATOR.unit()(requested))
    request = Request.unpacked(requested)
    assert response.window <= request.max_window and response.gap * response.window <= request.round_trip << 8
