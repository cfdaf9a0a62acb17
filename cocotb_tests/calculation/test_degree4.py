# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The exponentials of degree 4 that the unit is compared with: their published values, and how far off they are."""

from __future__ import annotations

import math

import pytest

from sim.golden.calculation import degree4

ONE, UNIT = degree4.ONE, 1 << degree4.X_BITS

# x, and e^-x about the nearest whole number, as their bits.
VALUES = [
    (0, 1073741824),
    (167, 1073731137),
    (16777, 1072668633),
    (4194304, 836239360),
    (8388608, 651145245),
    (16760438, 395402765),
    (16777216, 395007542),
    (25165824, 239542949),
    (33554432, 145315154),
    (130023424, 462502),
    (327155712, 3),
]


@pytest.mark.parametrize(("x", "value"), VALUES)
def test_the_published_values(x: int, value: int) -> None:
    assert degree4.nearest(x) == value
    assert value / ONE == pytest.approx(math.exp(-x / UNIT), rel=0.0004, abs=1 / ONE)


def test_they_are_as_far_off_as_the_specification_says() -> None:
    xs = [index * 1677 for index in range(190_000)]
    assert max(abs(degree4.published(x) / ONE / math.exp(x / UNIT) - 1) for x in xs) == pytest.approx(0.00366, abs=2e-5)
    below_ten = xs[:100_000]
    assert max(abs(degree4.nearest(x) / ONE * math.exp(x / UNIT) - 1) for x in below_ten) == pytest.approx(
        0.0004, abs=1e-5
    )
