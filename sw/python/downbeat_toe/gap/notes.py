# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Limits of an analysis: sentences, each with what to do."""

from __future__ import annotations

import numpy as np

from downbeat_toe.gap.statistics import Indices, Line
from downbeat_toe.gap.uncertainty import LARGEST_DRIFT
from downbeat_toe.schedule import Integers

MICROSECOND = 1000  # ns
ONE_TIME = 1e-6  # a larger slope, surely, is of two clocks
SURE = 5.0  # standard uncertainties


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
            f"The delay changes by {line.slope * 1e6:.1f} ppm of the time: two clocks without a common time do so "
            "(--common-time), or a path that becomes slower or faster."
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


def change(found: tuple[int, float] | None, fine: Indices) -> list[str]:
    if found is None:
        return []
    at, size = found
    return [
        f"At entry {int(fine[at]) + 1} the time error moves by {size:.0f} ns and stays there: a clock was set (let "
        "it be slewed, or leave it alone while measuring), or the path changed."
    ]
