# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How precise is one gap, and how sure is that: gap +- x ns at 95 %, and the instrument's floor.

The measurand is the time between two frames where they were stamped, in the schedule's time. The floor is what stamps
alone leave of a gap error: a smaller one says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from downbeat_toe.gap import means, uncertainty
from downbeat_toe.gap.analysis import INSIGNIFICANT, KEPT, Analysis
from downbeat_toe.gap.statistics import Floats

FEWEST_GAPS = 8  # fewer are too short to judge
UNKNOWN = (
    "unknown: the kernel stamped, and only a self-test knows how exactly (downbeat gap selftest, then --selftest FILE)"
)


@dataclass(frozen=True)
class Stamping:
    """Who stamped."""

    kernel: bool | None  # None: a file does not say
    errors: Floats | None = None  # ns: quantiles of the self-test's gap errors, if there is one
    source: str = ""  # of the self-test


def judge(analysis: Analysis, stamping: Stamping) -> dict[str, Any]:
    """The verdict for the report; None where a figure cannot be known."""
    gap = float(np.median(analysis.gaps))
    own = [_own(analysis, stamping)]
    if analysis.schedule_step:
        own.append(uncertainty.stamps("the schedule's stamps", analysis.schedule_step))
    causes = [*own, *_clocks(analysis, gap)]
    known = (stamping.errors is not None or not stamping.kernel) and not analysis.unsure
    width, floor = uncertainty.half_width(causes), uncertainty.half_width(own)
    count = len(analysis.gap_errors)
    data: dict[str, Any] = {
        "level": uncertainty.LEVEL,
        "gap_ns": float(np.median(analysis.gaps + analysis.gap_errors)),
        "half_width_ns": width if known else None,
        "floor_ns": floor if known else None,
        "budget": uncertainty.budget(causes) if known else [],
        "assumes": _assumption(stamping),
        "within_floor": float(np.mean(np.abs(analysis.gap_errors) <= floor)) if known else None,
        "mean_gap_error_ns": means.mean(analysis.gap_errors),
        "too_short": count < FEWEST_GAPS,
        "unsure": analysis.unsure,
        "sure": known and not (stamping.kernel is None and stamping.errors is None),
    }
    return {**data, "sentences": sentences(data, count)}


def sentences(data: dict[str, Any], count: int) -> list[str]:
    """The verdict in words."""
    mean = data["mean_gap_error_ns"]
    error = "unknown" if mean["half_width"] is None else f"±{mean['half_width']:,.1f} ns (95 %)"
    average = f"Mean gap error {mean['value']:z,.1f} ns, {error}."
    if data["too_short"]:
        return [f"Too short to judge: {count} undisturbed gaps, at least {FEWEST_GAPS} are needed. {average}"]
    if data["unsure"]:
        return [f"One gap: no precision, because {data['unsure']}. {average}"]
    if data["half_width_ns"] is None:
        return [f"One gap: precision {UNKNOWN}. {average}"]
    if not data["sure"]:
        return [f"{_precision(data, 'If a NIC stamped at the wire, one gap of')} {data['assumes']}", average]
    inside = data["within_floor"]
    seen = (
        "The gaps differ from the schedule by no more than the instrument itself."
        if inside >= data["level"]
        else f"{1 - inside:.1%} of the gap errors are above the floor: they are the path's or the sender's."
    )
    return [
        f"{_precision(data, 'One gap of')} Believe no gap error below the floor. {data['assumes']}".rstrip(),
        f"{seen} {average}",
    ]


def _precision(data: dict[str, Any], subject: str) -> str:
    return (
        f"{subject} {data['gap_ns']:,.0f} ns is right to ±{rounded(data['half_width_ns'])} ns (95 %). Floor of this "
        f"instrument: ±{rounded(data['floor_ns'])} ns."
    )


def rounded(value: float) -> str:
    """Two digits, rounded up: an interval must not shrink in print."""
    if value <= 0:
        return "0"
    unit = 10 ** (np.floor(np.log10(value)) - 1)
    return f"{float(np.ceil(value / unit * (1 - 1e-9)) * unit):,.10g}"


def _own(analysis: Analysis, stamping: Stamping) -> uncertainty.Cause:
    if stamping.errors is not None and stamping.kernel is not False:
        return uncertainty.measured("the kernel's stamps, by the self-test", stamping.errors)
    return uncertainty.stamps("the stamps' step", analysis.step)


def _clocks(analysis: Analysis, gap: float) -> list[uncertainty.Cause]:
    drift = analysis.data["drift"]
    wander = uncertainty.wander(gap, uncertainty.wander_of(analysis.data["allan"], float(np.ptp(analysis.times))))
    if drift["why_not"] == "one clock":
        return [wander]
    if drift["why_not"] in (KEPT, INSIGNIFICANT) and drift["uncertainty_ppb"] is not None:
        return [uncertainty.drift(gap, drift["uncertainty_ppb"] * 1e-9, drift["ppb"] * 1e-9), wander]
    known = drift["removed"] and drift["uncertainty_ppb"] is not None
    return [uncertainty.drift(gap, drift["uncertainty_ppb"] * 1e-9 if known else None), wander]


def _assumption(stamping: Stamping) -> str:
    if stamping.errors is not None and stamping.kernel is not False:
        return f"Stamps as exact as in the self-test {stamping.source}."
    if stamping.kernel is None:
        return "The capture does not say who stamped; for the kernel's stamps give a self-test (--selftest FILE)."
    return ""
