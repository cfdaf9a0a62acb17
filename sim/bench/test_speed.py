# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The speed bench's shares of a line."""

from __future__ import annotations

from sim.bench.speed import LINE_RUNS, line_shares


def test_a_full_line_of_25_gigabits_takes_a_segment_every_192_clocks_and_one_of_100_every_40() -> None:
    assert [(width, connections) for _, width, _, connections in LINE_RUNS] == [(16, 1), (16, 16), (64, 1), (64, 16)]
    clocks = (192.25, 384.5, 79.31, 39.651)
    shares = line_shares([{"connections": 1, "clocks_per_segment": each} for each in clocks])
    assert [share["share"] for share in shares] == [1.0, 0.5, 0.5, 1.0]
    assert not line_shares([])
