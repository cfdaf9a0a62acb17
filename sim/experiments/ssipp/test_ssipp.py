# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The judgement of SSIPP's captures, against wires made by hand."""

from __future__ import annotations

import pytest

from sim.experiments.ssipp.capture import Segment, failures, figures, inverted

MSS = 1460
START = 1001
ROUND_TRIP = 0.4


def wire(rounds: list[list[list[int]]], again: int | None = None) -> list[Segment]:
    """Each round is a list of what each of its ACKs released; the first ACK is the handshake's."""
    segments: list[Segment] = []
    time = 0.0
    for acks in rounds:
        for number, released in enumerate(acks):
            at = time + number * 0.001
            segments.append(Segment(at, False, 1, START, 0, "A"))
            segments += [Segment(at + 1e-5, True, START + MSS * each, 1, MSS, "A") for each in released]
        time += ROUND_TRIP
    if again is not None:
        segments.append(Segment(time, True, START + MSS * again, 1, MSS, "A"))
    return segments


# Yu's Algorithms 1 and 2 by hand, a window of one at first.
DOUBLING = [[[0]], [[2, 1]], [[4], [3, 6, 5]], [[8], [7, 10, 9], [12], [11, 14, 13]]]


def test_rounds_that_double_in_inverted_pairs_pass() -> None:
    found = figures(wire(DOUBLING), ROUND_TRIP)
    assert found.per_round == [1, 2, 4, 8]
    assert (found.inverted_share, found.most_per_ack, found.retransmissions) == (1.0, 3, 0)
    assert failures(found, 4) == []


@pytest.mark.parametrize(
    ("rounds", "again", "words"),
    [
        ([[[0]], [[1]], [[2], [3, 4]]], None, "rounds of"),
        ([[[0]], [[1, 2]], [[3], [4, 5, 6]]], None, "inverted pairs"),
        ([[[0]], [[2, 1]], [[4, 3, 6, 5]]], None, "an ACK released 4"),
        (DOUBLING, 3, "sent again"),
    ],
)
def test_what_does_not_fit_the_table_is_said(rounds: list[list[list[int]]], again: int | None, words: str) -> None:
    said = failures(figures(wire(rounds, again), ROUND_TRIP), len(rounds))
    assert [words in line for line in said].count(True) == 1


def test_the_inverted_share_counts_pairs() -> None:
    assert inverted([0, 2, 1, 4, 3]) == 1.0
    assert inverted([0, 2, 1, 3, 4]) == 0.5
    assert inverted([0, 1, 2]) == 0.0
