# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Measures of single segments, ACKs and pairs, of traces made by hand."""

from __future__ import annotations

import pytest

from sim.experiments.engine.measures.traces import Trace, arrival_gaps, gaps, inverted_share, max_per_ack

SIZE = 1460.0


def trace(*rounds: list[list[int]]) -> Trace:
    """Each round is a list of what each of its ACKs released, by number."""
    made: Trace = {"sent": [], "acks": [], "gaps": []}
    for number, acks in enumerate(rounds):
        for position, released in enumerate(acks):
            at = 0.4 * number + 0.001 * position
            made["acks"].append([at, 0.0])
            made["sent"] += [[at, SIZE * segment, SIZE] for segment in released]
    return made


# Yu's Algorithms 1 and 2 by hand, a window of one at first.
DOUBLING = [[[0]], [[2, 1]], [[4], [3, 6, 5]], [[8], [7, 10, 9], [12], [11, 14, 13]]]


def test_inverted_pairs_are_counted_and_what_an_ack_releases() -> None:
    assert (inverted_share(trace(*DOUBLING)), max_per_ack(trace(*DOUBLING))) == (1.0, 3)


@pytest.mark.parametrize(
    ("order", "share"), [([0, 2, 1, 4, 3], 1), ([0, 2, 1, 3, 4], 0.5), ([0, 1, 2], 0), ([0], 0), ([0, 2, 1, 2, 1], 1)]
)
def test_a_segment_counts_once(order: list[int], share: float) -> None:
    assert inverted_share(trace([order])) == share


def test_a_pair_that_is_not_whole_says_nothing() -> None:
    pairs = {"label": "p", "departures": [0, 8, 100, 108], "arrivals": [50, 60, 150, -1]}
    flow = {"label": "a", "trace": {"sent": [], "acks": [], "gaps": [[0.008, 0.009], [0.0086, 0.02]]}}
    run = {"flows": [flow, {"label": "b"}], "pairs": [pairs]}
    assert gaps(run, "p") == [pytest.approx([8e-9, 10e-9])]
    assert len(gaps(run, "")) == 3 and gaps(run, "b") == []
    assert arrival_gaps(run, "a", 0.008) == [0.009]  # the other left more than a sixteenth later
    assert arrival_gaps(run, "a", 0) == [0.009, 0.02]
