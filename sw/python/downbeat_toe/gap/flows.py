# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which flow of a capture is which flow of a schedule, and where its sequence numbers stand there."""

from __future__ import annotations

from collections import Counter, defaultdict

from downbeat_toe.gap.frames import Frames
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import WRAP, Schedule

# A schedule without sequence numbers is of frames of downbeat replay.
OF_TCP = "a CSV for TCP has the column sequence, or take --paced RATE; UDP is not compared"


def names(schedule: Schedule, frames: Frames, source: str) -> dict[str, str]:
    """The capture's name of each flow of the schedule: its own, or that of the flow with most of its sequence
    numbers."""
    there = set(frames.flow)
    names = {flow: flow for flow in schedule.flows() if flow in there}
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    owners = defaultdict(set)
    for flow, sequence in zip(schedule.flow, schedule.sequence.tolist(), strict=True):
        if flow not in names:
            owners[sequence % WRAP].add(flow)
    for name, sequence in zip(frames.flow, frames.sequence.tolist(), strict=True):
        for flow in owners.get(sequence % WRAP, ()):
            votes[flow][name] += 1
    for flow, counted in votes.items():
        names[flow] = counted.most_common(1)[0][0]
    if not names:
        kind = "TCP segments with data" if schedule.kind == "tcp" else "frames of downbeat replay"
        advice = "" if schedule.kind == "tcp" else f"; {OF_TCP}"
        listed = sorted(there)
        seen = (
            f"its flows are {', '.join(listed[:6])}{', ...' if len(listed) > 6 else ''}"
            if listed
            else f"it has no {kind}{f': its packets are {frames.seen()}' if frames.seen() else ''}{advice}"
        )
        raise Refused(f"{source}: no frame of the flows {', '.join(schedule.flows()[:6])} of {schedule.source}; {seen}")
    return names


def wraps(schedule: Schedule, frames: Frames, names: dict[str, str]) -> dict[str, int]:
    """How far the capture's unwrapped numbers of a flow are ahead of the schedule's: most frames' multiple of 2^32.

    They differ where one of the two begins when the flow has sent 4 GiB more.
    """
    planned: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for flow, sequence in zip(schedule.flow, schedule.sequence.tolist(), strict=True):
        if flow in names:
            planned[names[flow]][sequence % WRAP].add(sequence)
    votes: dict[str, Counter[int]] = defaultdict(Counter)
    for flow, sequence in zip(frames.flow, frames.sequence.tolist(), strict=True):
        if flow in planned:
            votes[flow].update(sequence - there for there in planned[flow].get(sequence % WRAP, ()))
    return {flow: _most(counted) for flow, counted in votes.items() if counted}


def _most(counted: Counter[int]) -> int:
    return max(counted, key=lambda ahead: (counted[ahead], -abs(ahead)))
