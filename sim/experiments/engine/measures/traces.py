# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Numbers of the single segments, ACKs and gaps of a traced connection. `trace` has lists: `sent` (s since
establishment, first byte, bytes), `acks` (s, bytes acknowledged by then), `gaps` (s between a probe and the one before,
s between their ACKs), `rates` (s, BWE and ERE as windows in segments, cwnd)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

Trace = dict[str, list[list[float]]]
NONE: Trace = {"gaps": []}
WIDTH = 1 / 16  # share of a gap, to either side


def gaps(run: dict[str, Any], label: str) -> list[list[float]]:
    """Gap of each traced pair of a run at departure and at arrival, s; a pair that lost a packet is left out."""
    found = [gap for flow in run["flows"] if label in ("", flow["label"]) for gap in flow.get("trace", NONE)["gaps"]]
    for pairs in run.get("pairs", ()):
        if label in ("", pairs["label"]):
            ends = zip(*(pairs[name][half::2] for name in ("departures", "arrivals") for half in (0, 1)), strict=True)
            found += [[1e-9 * (b - a), 1e-9 * (d - c)] for a, b, c, d in ends if c >= 0 and d >= 0]
    return found


def arrival_gaps(run: dict[str, Any], label: str, departure: float) -> list[float]:
    """Gaps at arrival, s, of the pairs with a gap at departure of `gap` s; 0: of all pairs."""
    every = gaps(run, label)
    return [arrival for left, arrival in every if not departure or abs(left - departure) <= departure * WIDTH]


def rates(trace: Trace, which: str) -> list[tuple[float, float, float]]:
    """Time in s, rate as a window, and cwnd, in segments, at each estimate of Westwood; `which`: bwe or ere."""
    return [(at, {"bwe": bwe, "ere": ere}[which], window) for at, bwe, ere, window in trace["rates"]]


def inverted_share(trace: Trace) -> float:
    """Share of the segments behind the first that left in a pair, the later one first; each segment counts once."""
    order = _fresh(trace)
    pairs = sum(1 for (first, _), (second, size) in pairwise(order) if first == second + size)
    return 2 * pairs / (len(order) - 1) if len(order) > 1 else 0.0


def max_per_ack(trace: Trace) -> int:
    """The largest number of segments that leave between two ACKs; an ACK comes before the segments of its instant."""
    events = [(at, 0) for at, _ in trace["acks"]] + [(at, 1) for at, *_ in trace["sent"]]
    largest = released = 0
    for _, sends in sorted(events):
        released = released + 1 if sends else 0
        largest = max(largest, released)
    return largest


def _fresh(trace: Trace) -> list[tuple[float, float]]:
    """First byte and length of each segment at its first transmission."""
    once = {first: size for _, first, size in reversed(trace["sent"])}
    return [(first, once.pop(first)) for _, first, _ in trace["sent"] if first in once]
