# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which frame is which entry, whatever the network did to them; a disturbed pair is counted and is no gap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from downbeat_toe.gap.frames import Frames
from downbeat_toe.gap.matching import Matching, match
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import Schedule

GAP = 1000  # ns
DELAY = 77  # ns


def planned(sequences: Sequence[int], flow: str = "0", again: Sequence[int] = ()) -> Schedule:
    count = len(sequences)
    marks = np.isin(np.arange(count), again)
    launch = GAP * np.arange(count, dtype=np.int64)
    return Schedule("plan", "tcp", launch, np.full(count, 100), (flow,) * count, np.array(sequences), marks)


def came(arrivals: Sequence[tuple[int, int]], flow: str = "a:1>b:2", length: int = 100) -> Frames:
    """Stamp and sequence of each."""
    stamps, sequences = zip(*arrivals, strict=True)
    count = len(arrivals)
    return Frames(np.array(stamps), (flow,) * count, np.array(sequences), np.full(count, length))


def matched(plan: Schedule, arrivals: Sequence[tuple[int, int]]) -> Matching:
    return match(plan, came(sorted(arrivals)), "capture")


def in_time(count: int) -> list[tuple[int, int]]:
    return [(GAP * number + DELAY, number) for number in range(count)]


def gaps(matching: Matching) -> list[tuple[int, int]]:
    """The gap, and the entry it begins with, of each fine pair."""
    first, second, _ = matching.pairs()
    return list(zip((matching.stamp[second] - matching.stamp[first]).tolist(), first.tolist(), strict=True))


def test_an_undisturbed_flow_is_all_pairs() -> None:
    found = matched(planned(range(5)), in_time(5))
    assert gaps(found) == [(GAP, 0), (GAP, 1), (GAP, 2), (GAP, 3)]
    assert found.counts() == {"fine": 5, "lost": 0, "retransmitted": 0, "duplicated": 0, "merged": 0, "reordered": 0}


def test_a_lost_frame_takes_both_its_pairs_along() -> None:
    arrivals = in_time(5)
    del arrivals[2]
    found = matched(planned(range(5)), arrivals)
    assert gaps(found) == [(GAP, 0), (GAP, 3)]
    assert found.pairs()[2]["lost"] == 2 and found.counts()["lost"] == 1


def test_a_duplicate_is_never_a_gap() -> None:
    found = matched(planned(range(4)), [*in_time(4), (GAP + 500, 1)])
    assert gaps(found) == [(GAP, 2)]
    assert found.pairs()[2]["duplicated"] == 2


def test_what_was_sent_twice_is_no_gap_even_if_one_copy_came() -> None:
    """Nobody can say which one it was (Karn's rule)."""
    plan = planned([0, 1, 2, 1, 3], again=[3])
    for arrivals in ([(77, 0), (1077, 1), (2077, 2), (4077, 3)], [(77, 0), (1077, 1), (2077, 2), (3077, 1), (4077, 3)]):
        found = matched(plan, arrivals)
        assert gaps(found) == [] and found.counts()["retransmitted"] == 2


def test_a_frame_that_was_overtaken_is_no_gap() -> None:
    found = matched(planned(range(5)), [(77, 0), (2600, 1), (2077, 2), (3077, 3), (4077, 4)])
    assert gaps(found) == [(GAP, 2), (GAP, 3)]
    assert found.counts()["reordered"] == 1


def test_merged_segments_are_seen_by_their_length() -> None:
    arrivals = came([(77, 0), (2077, 2)], length=100)
    arrivals.length[0] = 200
    found = match(planned(range(4)), arrivals, "capture")
    assert found.counts()["merged"] == 1 and gaps(found) == []


def test_the_device_s_flow_is_found_by_its_sequence_numbers() -> None:
    """Flow 0 is that 4-tuple which carries most of its numbers; another one with some of them does not count."""
    ours, others = came(in_time(5)), came([(9, 3), (10, 999)], "c:3>d:4")
    both = Frames(
        np.concatenate([ours.stamp, others.stamp]),
        ours.flow + others.flow,
        np.concatenate([ours.sequence, others.sequence]),
        np.concatenate([ours.length, others.length]),
    )
    found = match(planned(range(5)), both, "capture")
    assert len(gaps(found)) == 4 and found.unscheduled == 0


def test_frames_that_nobody_asked_for_are_counted() -> None:
    assert matched(planned(range(3)), in_time(5)).unscheduled == 2


def test_pairs_are_of_one_flow() -> None:
    plan = planned(range(4))
    plan = Schedule(
        "plan", "tcp", plan.launch, plan.length, ("0", "1", "0", "1"), np.array([0, 50, 1, 51]), plan.retransmission
    )
    arrivals = Frames(plan.launch + DELAY, ("0", "1", "0", "1"), plan.sequence, plan.length)
    assert gaps(match(plan, arrivals, "capture")) == [(2 * GAP, 0), (2 * GAP, 1)]


def test_a_flow_that_is_not_there_among_others_is_named() -> None:
    plan = planned(range(4))
    both = Schedule(
        "plan", "tcp", plan.launch, plan.length, ("0", "0", "0", "9"), np.array([0, 1, 2, 777]), plan.retransmission
    )
    found = matched(both, in_time(3))
    assert found.absent == ["9"] and found.counts()["lost"] == 1


def test_a_flow_that_is_not_there_is_said_with_those_that_are() -> None:
    with pytest.raises(Refused, match=r"capture: no frame of the flows 0 of plan; its flows are a:1>b:2"):
        match(planned([100, 101]), came(in_time(3)), "capture")
    with pytest.raises(Refused, match="it has no TCP segments with data"):
        match(planned([100]), came([(0, 0)]).where(np.array([False])), "capture")


WRAP = 2**32


@pytest.mark.parametrize(("payload", "missed"), [(2**30, 0), (2**30 + 1001, 0), (2**30 + 1001, 5)])
def test_a_flow_beyond_4_gib_is_matched_by_its_place(payload: int, missed: int) -> None:
    """Numbers repeat after 4 GiB. A capture that begins later has the same ones, less some multiples of 2^32."""
    starts = [number * payload for number in range(9)]
    plan = planned(starts)
    arrivals = [(GAP * number + DELAY, start) for number, start in enumerate(starts)][missed:]
    late = arrivals[0][1] // WRAP * WRAP
    found = matched(plan, [(stamp, start - late) for stamp, start in arrivals])
    assert found.counts()["fine"] == 9 - missed and found.unscheduled == 0
    assert gaps(found) == [(GAP, number) for number in range(missed, 8)]


def test_what_left_in_one_piece_is_no_gap() -> None:
    """A schedule captured before segmentation: its entry is several frames of the wire."""
    plan = planned(range(4))
    merged = Schedule(
        "plan",
        "tcp",
        plan.launch,
        plan.length,
        plan.flow,
        plan.sequence,
        plan.retransmission,
        np.array([0, 1, 0, 0], bool),
    )
    found = match(merged, came(in_time(4)), "capture")
    assert found.counts()["merged"] == 1 and gaps(found) == [(GAP, 2)]
