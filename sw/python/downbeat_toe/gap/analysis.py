# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From frames and their schedule to the figures: what gap-capture.json and its kin hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from downbeat_toe.gap import notes, statistics, steps
from downbeat_toe.gap.frames import Frames
from downbeat_toe.gap.matching import Matching, match
from downbeat_toe.gap.statistics import Floats
from downbeat_toe.gap.uncertainty import LARGEST_DRIFT, SIGNIFICANT
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import Schedule

WORST = 5  # gaps that are named
ONE_CLOCK, NO_CLOCK = "one clock", "no clock drifts so"
KEPT, INSIGNIFICANT = "--keep-drift", "not significant"  # reasons to leave a drift


@dataclass(frozen=True)
class Analysis:
    data: dict[str, Any]  # for JSON
    times: Floats  # ns since the first launch, of each fine frame
    rest: Floats  # ns: its time error, less offset and drift
    gap_errors: Floats  # ns, of each fine pair
    gaps: Floats  # ns, scheduled, of each fine pair
    step: int  # ns: of the stamps
    schedule_step: int  # ns: of the launches, if they are stamps; 0: exact
    unsure: str  # why no precision can be given; empty: it can


def analyse(
    schedule: Schedule,
    frames: Frames,
    source: str,
    stamps: str,
    common_time: bool = False,
    keep_drift: bool = False,
    one_clock: bool = False,
) -> Analysis:
    """`stamps` says whose they are. With `common_time` launches are by clocks kept together: no drift, and the delay is
    known. `keep_drift` leaves a drift in the gap errors. `one_clock` gives launches and stamps: setting it moves both,
    so a time error that moves is the sender's."""
    matching = match(schedule, frames, source)
    fine = np.flatnonzero(matching.fine)
    first, second, disturbed = matching.pairs()
    if not len(first):
        raise Refused(
            f"{source}: no two neighbours of the schedule arrived undisturbed: frames {matching.counts()}, pairs {disturbed}"
        )
    launch = (schedule.launch - schedule.launch[0]).astype(float)
    stamp = (matching.stamp - matching.stamp[fine[0]]).astype(float)
    times, errors = launch[fine], stamp[fine] - launch[fine]
    free = statistics.unhindered(times, stamp[fine], schedule.length[fine])
    moved = [] if one_clock else statistics.level_changes(times[free], errors[free])
    line, levels, parts = statistics.fit_between(times[free], errors[free], moved)
    changes = free[moved].tolist()
    offsets = levels[np.searchsorted(free, np.arange(len(fine)), "right") - 1]
    why_not = ONE_CLOCK if common_time else KEPT if keep_drift else _why_not(line)
    slope = 0.0 if why_not else line.slope
    rest = errors - offsets - slope * times
    rest -= np.median(rest)
    if changes:  # a gap over a step is no gap
        steady = np.searchsorted(fine[changes], first, "right") == np.searchsorted(fine[changes], second, "right")
        disturbed["clock step"] = int(np.count_nonzero(~steady))
        first, second = first[steady], second[steady]
    gaps = launch[second] - launch[first]
    gap_errors = stamp[second] - stamp[first] - gaps * (1 + slope)
    delay = (matching.stamp - schedule.launch)[fine]
    step = max(frames.step, steps.apart(matching.stamp[fine]))
    batched = float(np.mean(steps.batched(schedule.length[second], stamp[second] - stamp[first], frames.step)))
    data = {
        "schedule": {"source": schedule.source, "frames": len(schedule), "flows": len(schedule.flows())},
        "capture": {"source": source, "stamps": stamps, "stamp_step_ns": step},
        "frames": {**matching.counts(), "unscheduled": matching.unscheduled},
        "gaps": {"fine": len(first), "disturbed": disturbed, "scheduled_ns": _range(gaps)},
        "drift": {
            "removed": why_not is None,
            "why_not": why_not,
            "ppb": line.slope * 1e9,
            "uncertainty_ppb": line.uncertainty * 1e9 if np.isfinite(line.uncertainty) else None,
        },
        "gap_error_ns": statistics.percentiles(gap_errors),
        "histogram": statistics.histogram(gap_errors),
        "allan": statistics.allan(times, rest),
        "worst_gaps": _worst(matching, first, gaps, gap_errors),
        "delay_ns": statistics.percentiles(delay.astype(float)) if common_time else None,
        "notes": [
            *notes.absence(matching.absent),
            *notes.merging(matching.counts()),
            *notes.slope(line, common_time),
            *notes.negative_delay(delay if common_time else None),
            *notes.step(step),
            *notes.changes(fine[changes], np.diff(offsets)[np.array(changes, int) - 1], parts),
            *notes.batches(batched),
            *frames.notes(),
        ],
    }
    unsure = notes.SHARED if batched > notes.FEW_BATCHED else notes.STEPPED if changes else ""
    return Analysis(
        data, times, rest, gap_errors, gaps, max(frames.step, steps.clock_step(step)), schedule.step, unsure
    )


def _why_not(line: statistics.Line) -> str | None:
    """Why a line's slope is not taken for the drift of a clock; None: it is."""
    if abs(line.slope) > LARGEST_DRIFT:
        return NO_CLOCK
    return INSIGNIFICANT if abs(line.slope) <= SIGNIFICANT * line.uncertainty else None


def _range(values: Floats) -> dict[str, float]:
    return {"minimum": float(values.min()), "median": float(np.median(values)), "maximum": float(values.max())}


def _worst(matching: Matching, first: statistics.Indices, gaps: Floats, errors: Floats) -> list[dict[str, Any]]:
    schedule, order = matching.schedule, np.argsort(-np.abs(errors))[:WORST]
    return [
        {
            "entry": int(first[at]) + 1,
            "flow": schedule.flow[first[at]],
            "launch_ns": int(schedule.launch[first[at]]),
            "gap_ns": float(gaps[at]),
            "error_ns": float(errors[at]),
        }
        for at in order
    ]
