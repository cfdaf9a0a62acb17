# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Limits of an analysis: sentences, each with what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from downbeat_toe.gap.statistics import Floats, Indices, Line
from downbeat_toe.gap.uncertainty import LARGEST_DRIFT
from downbeat_toe.schedule import Integers

MICROSECOND = 1000  # ns
ONE_TIME = 1e-6  # a larger slope, surely, is of two clocks
SURE = 5.0  # standard uncertainties
FEW_BATCHED = 0.01  # share of the gaps
SHARED = "frames share stamps: they were stamped in batches"
STEPPED = "a clock was set during the capture, or the path changed"


def treatment(drift: dict[str, Any]) -> str:
    """Whether the drift of an analysis was removed."""
    return "removed" if drift["removed"] else f"not removed: {drift['why_not']}"


def absence(flows: list[str]) -> list[str]:
    if not flows:
        return []
    named = ", ".join(flows[:6]) + (", ..." if len(flows) > 6 else "")
    return [f"No frame of flow {named} came: all its entries count as lost."]


def merging(counts: dict[str, int]) -> list[str]:
    if not counts["merged"]:
        return []
    return [
        f"{counts['merged']} frames are several in one: segmentation offload merged them before they were stamped. Switch it off "
        "(ethtool -K IFACE tso off gso off gro off lro off) and capture again."
    ]


def slope(line: Line, common_time: bool) -> list[str]:
    if common_time:
        if abs(line.slope) <= max(ONE_TIME, SURE * line.uncertainty):
            return []
        return [
            f"The delay changes by {line.slope * 1e6:.1f} ppm of the time: the path or the sender becomes slower or "
            "faster, or two clocks have no common time (leave --common-time out)."
        ]
    if abs(line.slope) <= LARGEST_DRIFT:
        return []
    return [
        f"The time error grows by {line.slope * 1e6:.0f} ppm of the time, which is no clock's (two of Ethernet differ by "
        f"{LARGEST_DRIFT * 1e6:g} ppm at most): the path became slower or faster, or frames were sent late. Nothing was removed."
    ]


def negative_delay(delay: Integers | None) -> list[str]:
    count = 0 if delay is None else int(np.count_nonzero(delay < 0))
    if delay is None or not count:
        return []
    return [
        f"{count} of {len(delay)} frames arrive before they leave, up to {-int(delay.min())} ns: the two clocks have no common "
        "time. Discipline both (PTP, PPS), or leave --common-time out: gaps need none."
    ]


def step(size: int) -> list[str]:
    if size < MICROSECOND:
        return []
    return [
        f"All stamps lie {size} ns or a multiple of it apart, whatever the file says of nanoseconds: the clock behind them "
        "has no finer step, and errors below it are its own. Let the NIC stamp (docs/how-to/measure-gaps.md)."
    ]


def changes(entries: Indices, sizes: Floats, parts: list[Line]) -> list[str]:
    """Entries of the schedule at which the time error moves, by how much (ns), and the line of each part between
    them."""
    drifts = [f"{line.slope * 1e9:,.1f} ± {line.uncertainty * 1e9:,.1f} ppb" for line in parts]
    return [
        f"At entry {entry + 1} the time error moves by {size:,.0f} ns and stays there: a clock was set (let "
        "it be slewed, or leave it alone while measuring), or the path changed. Drift before it "
        f"{drifts[place]}, after it {drifts[place + 1]}."
        for place, (entry, size) in enumerate(zip(entries.tolist(), sizes.tolist(), strict=True))
    ]


def batches(share: float) -> list[str]:
    if share <= FEW_BATCHED:
        return []
    return [
        f"{share:.1%} of the frames have a stamp that is nearer to the one before than a wire of 400 Gb/s brings them: they "
        "were stamped in batches, so gap errors are the stamping's, not the path's. Let the NIC stamp each frame "
        "(docs/how-to/measure-gaps.md), or switch off its interrupt coalescing (ethtool -C IFACE rx-usecs 0)."
    ]
