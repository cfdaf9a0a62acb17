# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which captured frame is which entry of a schedule, by flow and sequence number.

A pair of neighbours in the schedule whose frames were lost, doubled, sent again, merged or overtaken is disturbed: it
is counted by its cause and is no gap. Times between them would be right, and say something else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from downbeat_toe.gap import flows
from downbeat_toe.gap.frames import Frames
from downbeat_toe.schedule import Flags, Integers, Schedule

FINE, LOST, RETRANSMITTED, DUPLICATED, MERGED, REORDERED = range(6)
CAUSES = ("fine", "lost", "retransmitted", "duplicated", "merged", "reordered")  # later ones win


@dataclass(frozen=True)
class Matching:
    """Arrays by entry of the schedule."""

    schedule: Schedule
    stamp: Integers  # ns; 0 where there is none
    cause: Integers  # FINE to REORDERED: what is the matter with the entry's frame
    unscheduled: int  # frames of these flows that no entry asked for
    absent: list[str]  # flows of which no frame came

    @property
    def fine(self) -> Flags:
        return np.equal(self.cause, FINE)

    def counts(self) -> dict[str, int]:
        found = Counter(self.cause.tolist())
        return {name: found.get(code, 0) for code, name in enumerate(CAUSES)}

    def pairs(self) -> tuple[Integers, Integers, dict[str, int]]:
        """Entries of each fine pair of neighbours in a flow, first and second; and the disturbed pairs by cause."""
        first, second = [], []
        disturbed = dict.fromkeys(CAUSES[1:], 0)
        last: dict[str, int] = {}
        for index, flow in enumerate(self.schedule.flow):
            before = last.get(flow)
            last[flow] = index
            if before is None:
                continue
            cause = max(int(self.cause[before]), int(self.cause[index]))
            if cause == FINE:
                first.append(before)
                second.append(index)
            else:
                disturbed[CAUSES[cause]] += 1
        return np.array(first, np.int64), np.array(second, np.int64), disturbed


def match(schedule: Schedule, frames: Frames, source: str) -> Matching:
    names = flows.names(schedule, frames, source)
    wraps = flows.wraps(schedule, frames, names)
    captured = defaultdict(list)
    for index, (flow, sequence) in enumerate(zip(frames.flow, frames.sequence.tolist(), strict=True)):
        captured[flow, sequence - wraps.get(flow, 0)].append(index)
    wanted = defaultdict(list)
    for index, (flow, sequence) in enumerate(zip(schedule.flow, schedule.sequence.tolist(), strict=True)):
        wanted[names.get(flow, ""), sequence].append(index)
    stamp = np.zeros(len(schedule), np.int64)
    cause = np.full(len(schedule), LOST)
    unscheduled = sum(
        len(found)
        for (flow, sequence), found in captured.items()
        if flow in names.values() and (flow, sequence) not in wanted
    )
    for key, entries in wanted.items():
        found = captured.get(key, [])
        if len(entries) > 1:  # which copy is missing nobody can say
            cause[entries] = RETRANSMITTED
        for entry, index in zip(entries, found, strict=False):
            stamp[entry] = frames.stamp[index]
            if len(entries) == 1:
                cause[entry] = _judge(schedule, frames, entry, index, len(found))
    _mark_reordered(schedule, stamp, cause)
    absent = [flow for flow in schedule.flows() if flow not in names]
    return Matching(schedule, stamp, cause, unscheduled, absent)


def _judge(schedule: Schedule, frames: Frames, entry: int, index: int, copies: int) -> int:
    if schedule.retransmission[entry]:
        return RETRANSMITTED
    offloaded = [flags[at] for flags, at in ((schedule.merged, entry), (frames.merged, index)) if flags is not None]
    if frames.length[index] > schedule.length[entry] or any(offloaded):
        return MERGED
    return DUPLICATED if copies > 1 else FINE


def _mark_reordered(schedule: Schedule, stamp: Integers, cause: Integers) -> None:
    """A frame that came behind one that was to leave after it."""
    by_flow = defaultdict(list)
    for index, flow in enumerate(schedule.flow):
        if cause[index] == FINE:
            by_flow[flow].append(index)
    for entries in by_flow.values():
        times = stamp[entries]
        soonest = np.minimum.accumulate(times[::-1])[::-1]
        cause[np.array(entries)[times > soonest]] = REORDERED
