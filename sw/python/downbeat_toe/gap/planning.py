# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Schedules out of captures: what left when it left, or what a paced flow would be."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from downbeat_toe.gap import steps
from downbeat_toe.gap.frames import Frames
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import NANOSECONDS, Schedule

DAY = 86_400 * NANOSECONDS
OFFLOAD = "ethtool -K IFACE tso off gso off gro off lro off"


def left(frames: Frames, source: str, option: str = "--schedule-interface") -> Schedule:
    """What left here when it left: what comes out elsewhere is compared with it. `option` names the interface."""
    if not len(frames):
        seen = f"; its packets are {frames.seen()}" if frames.seen() else ""
        where = f"if it has several interfaces, name the one on which they leave ({option})"
        raise Refused(f"{source}: no TCP segment with data in it{seen}; {where}")
    seen_keys: set[tuple[str, int]] = set()
    again = np.zeros(len(frames), dtype=bool)
    for index, key in enumerate(zip(frames.flow, frames.sequence.tolist(), strict=True)):
        again[index] = key in seen_keys
        seen_keys.add(key)
    step = max(frames.step, steps.clock_step(steps.apart(frames.stamp)))
    columns = (frames.stamp, frames.length, frames.flow, frames.sequence, again)
    return Schedule(source, "tcp", *columns, frames.merged, step)


def require_one_time(planned: Schedule, instant: int, instead: str) -> None:
    """Refuses launches that are of another time than the arrivals, of which one is at `instant` (ns)."""
    if abs(int(planned.launch[0]) - instant) > DAY:
        raise Refused(
            f"{planned.source}: launches count from the start, so with --common-time arrivals cannot be compared with "
            f"them: {instead}"
        )


def paced(frames: Frames, source: str, flow: str | None, rate: int) -> tuple[Schedule, list[str]]:
    """What a flow's new data would be if each payload byte took its time at `rate` bits a second, whatever the stamps
    say.

    Without `flow`, the flow with the most bytes is taken; the notes say so.
    """
    everything = left(frames, source, "--interface")
    payload: Counter[str] = Counter()
    for name, length in zip(everything.flow, everything.length.tolist(), strict=True):
        payload[name] += length
    chosen = flow or payload.most_common(1)[0][0]
    planned = everything.only(chosen)
    notes = _choice_notes(payload, chosen) if flow is None else []
    _require_frames_of_the_wire(planned)
    ahead = planned.sequence - planned.sequence[0]  # bytes since the first segment
    new = ~planned.retransmission & (ahead == np.maximum.accumulate(ahead))
    launch = np.rint(ahead * (8 * NANOSECONDS / rate)).astype(np.int64)
    return replace(planned, launch=launch, step=0).where(new), notes


def _choice_notes(payload: Counter[str], chosen: str) -> list[str]:
    if len(payload) == 1:
        return []
    share = min(99.9, 100 * payload[chosen] / payload.total())
    return [
        f"{len(payload)} flows: {chosen} is the largest, with {share:.1f} % of the bytes, and is the one judged. "
        f"Another: --flow {payload.most_common(2)[1][0]}"
    ]


def _require_frames_of_the_wire(planned: Schedule) -> None:
    count = 0 if planned.merged is None else int(planned.merged.sum())
    if count:
        raise Refused(
            f"{planned.source}: {count} of {len(planned)} segments of flow {planned.flow[0]} are larger than a frame of the "
            f"wire: segmentation offload merged them before they were stamped. Switch it off ({OFFLOAD}) and capture again; "
            "if the path carries such frames, give its MTU (--mtu 9000)"
        )
