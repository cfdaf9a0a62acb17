# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From frames and their schedule to the figures: what gap-capture.json and its kin hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from downbeat.gap import statistics
from downbeat.gap.frames import Frames
from downbeat.gap.matching import Matching, match
from downbeat.gap.statistics import Floats
from downbeat.refused import Refused
from downbeat.schedule import Schedule

MICROSECOND = 1000  # ns
LARGEST_DRIFT = 200e-6  # IEEE 802.3: 100 ppm for each of two clocks
WORST = 5  # gaps that are named


@dataclass(frozen=True)
class Analysis:
    data: dict[str, Any]  # for JSON
    times: Floats  # ns since the first launch, of each fine frame
    rest: Floats  # ns: its time error, less offset and drift
    gap_errors: Floats  # ns, of each fine pair


def analyse(schedule: Schedule, frames: Frames, source: str, stamps: str, common_time: bool = False) -> Analysis:
    """`stamps` says whose they are. With `common_time` launches are of the same clock: no drift, and the delay is known."""
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
    line = statistics.fit(times, errors)
    why_not = "one clock" if common_time else "no clock drifts so" if abs(line.slope) > LARGEST_DRIFT else None
    slope = 0.0 if why_not else line.slope
    rest = errors - slope * times
    rest -= np.median(rest)
    gaps = launch[second] - launch[first]
    gap_errors = stamp[second] - stamp[first] - gaps * (1 + slope)
    delay = (matching.stamp - schedule.launch)[fine]
    step = int(np.gcd.reduce(np.diff(np.sort(matching.stamp[fine]))))
    change = statistics.level_change(rest)
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
            *_absence_notes(matching.absent),
            *_drift_notes(line.slope if not common_time else 0.0),
            *_step_notes(step),
            *_change_notes(change, fine),
        ],
    }
    return Analysis(data, times, rest, gap_errors)


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


def _absence_notes(flows: list[str]) -> list[str]:
    if not flows:
        return []
    named = ", ".join(flows[:6]) + (", ..." if len(flows) > 6 else "")
    return [f"No frame of flow {named} came: all its entries count as lost."]


def _drift_notes(slope: float) -> list[str]:
    if abs(slope) <= LARGEST_DRIFT:
        return []
    return [
        f"The time error grows by {slope * 1e6:.0f} ppm of the time, which is no clock's (two of Ethernet differ by "
        f"{LARGEST_DRIFT * 1e6:g} ppm at most): the path became slower or faster, or frames were sent late. Nothing was removed."
    ]


def _step_notes(step: int) -> list[str]:
    if step and step % MICROSECOND == 0:
        return [
            f"All stamps lie {step} ns or a multiple of it apart, whatever the file says of nanoseconds: the clock behind them "
            "has no finer step, and errors below it are its own. Let the NIC stamp (docs/how-to/measure-gaps.md, Stamps)."
        ]
    return []


def _change_notes(change: tuple[int, float] | None, fine: statistics.Indices) -> list[str]:
    if change is None:
        return []
    at, size = change
    return [
        f"At entry {int(fine[at]) + 1} the time error moves by {size:.0f} ns and stays there: a clock was set (let "
        "it be slewed, or leave it alone while measuring), or the path changed."
    ]
