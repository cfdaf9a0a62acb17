# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Figure 15 of Iguchi's thesis: what is available of the path changes, and the window follows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sim.experiments.logistic.runs import INITIAL_WINDOW, SEGMENT, Bottleneck, Run

MEGABIT = 1_000_000
PHASE = 15.0  # virtual seconds; the thesis's are 50
AVAILABLE = (80, 65, 50, 80)  # of 100 Mb/s
RTT = 0.07
CLOSE = 0.01  # of w*: where the window has arrived


def path(phase: float = PHASE) -> Bottleneck:
    udp = [(100 - available) * MEGABIT for available in AVAILABLE]
    later = tuple((phase * number, rate) for number, rate in enumerate(udp) if number)
    return Bottleneck(100 * MEGABIT, RTT, 1.0, udp[0], later)


def phases(done: Run) -> list[dict[str, Any]]:
    """Of each phase: when the window is within 1 % of w* to stay, what is lost, and of its second half throughput and
    queue."""
    steps = done.path.steps()
    ends = [at for at, _ in steps[1:]] + [done.data["seconds"][-1]]
    return [_phase(done, at, end, then) for (at, then), end in zip(steps, ends, strict=True)]


def _phase(done: Run, begin: float, end: float, then: Bottleneck) -> dict[str, Any]:
    data = done.data
    inside = [index for index, at in enumerate(data["seconds"]) if begin <= at <= end]
    half = [index for index in inside if data["seconds"][index] >= (begin + end) / 2]
    first, last = half[0], half[-1]
    took = data["seconds"][last] - data["seconds"][first]
    row = {
        "begin_seconds": begin,
        "available_mbps": round((then.rate - then.udp) / MEGABIT),
        "goodput": (data["received"][last] - data["received"][first]) / took / then.available,
        "mean_queue_bytes": sum(data["queue"][index] for index in half) / len(half),
        "most_queue_bytes": max(data["queue"][index] for index in inside),
        "lost": int(data["drops"][inside[-1]] - data["drops"][inside[0]]),
    }
    if done.sender == "core":
        target = replace(done, path=then).target
        away = [index for index in inside if abs(data["cwnd"][index] / target - 1) > CLOSE]
        arrived = None if away and away[-1] == inside[-1] else data["seconds"][away[-1] + 1 if away else inside[0]]
        since, window = (begin, data["cwnd"][inside[0]]) if begin else (data["established"], INITIAL_WINDOW * SEGMENT)
        close = target * (1 - CLOSE if window < target else 1 + CLOSE)
        row |= {
            "target_bytes": target,
            "seconds_to_target": None if arrived is None else arrived - since,
            "equation_10_seconds": then.seconds_between(window, close, target),
        }
    return row
