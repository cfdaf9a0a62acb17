# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The speed bench's shares of a line."""

from __future__ import annotations

import pytest

from sim.bench.speed import line_share


@pytest.mark.parametrize(
    ("gigabits", "clock", "clocks", "share"),
    [
        (25, 390.625, 1538 / 8, 1),
        (25, 390.625, 1538 / 4, 0.5),
        (100, 322.265625, 79.3, 0.5),
        (100, 322.265625, 39.65, 1),
    ],
)
def test_a_full_segment_takes_its_time_on_the_line(gigabits: float, clock: float, clocks: float, share: float) -> None:
    """1,538 bytes: 492.16 ns at 25 Gb/s, 123.04 ns at 100 Gb/s."""
    found = line_share(gigabits, clock, {"beat_bytes": 64, "connections": 16, "clocks_per_segment": clocks})
    assert found["share"] == pytest.approx(share, abs=0.001) and found["connections"] == 16
