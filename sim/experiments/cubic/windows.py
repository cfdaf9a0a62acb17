# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A recorded window over time, and its mean over whole cycles from loss to loss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

Step = tuple[float, float]  # from these seconds on so many bytes


def core_steps(events: Iterable[dict[str, str]]) -> list[Step]:
    """Of the core's events.csv. In recovery ssthresh: cwnd is inflated then (RFC 6582), which ns-3 keeps apart."""
    steps, recovering = [], False
    for row in events:
        if row["live"] != "1":
            continue
        kind = row["congestion"]
        recovering = kind == "loss" or recovering and kind not in ("recovered", "timeout")
        steps.append((int(row["time_ns"]) / 1e9, float(row["ssthresh" if recovering else "cwnd"])))
    return steps


def ns3_steps(events: Iterable[dict[str, str]]) -> list[Step]:
    """Of ns-3's."""
    return [(int(row["time_ns"]) / 1e9, float(row["cwnd"])) for row in events if row["event"] == "cwnd"]


def falls(steps: Sequence[Step]) -> list[float]:
    """When the window was cut, by a tenth at least."""
    return [time for (_, before), (time, after) in pairwise(steps) if after < 0.9 * before]


def mean_of_cycles(steps: Sequence[Step]) -> tuple[float, int]:
    """Bytes, and from how many cycles: from the second fall, which ends what start-up left, to the last."""
    cuts = falls(steps)
    if len(cuts) < 3:
        raise ValueError(f"{len(cuts)} losses are too few: send more")
    return mean(steps, cuts[1], cuts[-1]), len(cuts) - 2


def mean(steps: Sequence[Step], begin: float, end: float) -> float:
    """Over that time, bytes."""
    total, last, clock = 0.0, 0.0, begin
    for time, window in steps:
        if time > begin:
            total += last * (min(time, end) - clock)
            clock = min(time, end)
        last = window
        if time >= end:
            break
    return (total + last * (end - clock)) / (end - begin)
