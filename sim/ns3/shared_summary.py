# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A few sentences on `make sim STARTUP=liss` and its kin: the winner, by how much, why, and that it is one seed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

RENO = "reno"
ALIKE = 0.01  # a smaller share of the bytes is no difference
STARTS = {  # fields of a connection by what an estimate sets, in segments
    "told_window": "a first window of",
    "told_ssthresh": "an ssthresh of",
    "start_jump": "a jump to",
}

Rows = Sequence[dict[str, Any]]


def mean(rows: Rows, name: str) -> float:
    """The mean of the connections that have a value; NaN: none has."""
    known = [row[name] for row in rows if row[name] is not None]
    return fmean(known) if known else float("nan")


def sentences(data: dict[str, Any], marks: Sequence[int]) -> list[str]:
    """The method against Reno. `data` has the connections of both; `marks` are in seconds."""
    method = data["method"]
    shared, reno = (data["runs"][name]["connections"] for name in (method, RENO))
    gains = [mean(shared, name) / max(mean(reno, name), 1) - 1 for name in map(_field, marks)]
    parts = ", ".join(_part(method, shared, reno, mark, gain) for mark, gain in zip(marks, gains, strict=True))
    losses = f"losses a connection {mean(shared, 'losses'):.1f} and {mean(reno, 'losses'):.1f}"
    seed = data["settings"]["seed"]
    return [
        f"{_winner(method, gains)}: {parts}; {losses}.",
        f"Why: {_why(method, shared, reno, gains)}.",
        f"This is one seed, {len(shared)} connections: another one (SEED={seed + 1}) may say otherwise.",
    ]


def _field(mark: int) -> str:
    return f"bytes_in_{mark}_s"


def _winner(method: str, gains: Sequence[float]) -> str:
    better, worse = any(gain > ALIKE for gain in gains), any(gain < -ALIKE for gain in gains)
    if better == worse:
        return f"{method} and {RENO} are alike" if not better else "Each wins once"
    return f"{method if better else RENO} wins on average"


def _part(method: str, shared: Rows, reno: Rows, mark: int, gain: float) -> str:
    name = _field(mark)
    ahead = sum(mine[name] > other[name] for mine, other in zip(shared, reno, strict=True))
    return (
        f"in {mark} s {method} has {mean(shared, name) / 1e3:,.0f} kB through, {RENO} {mean(reno, name) / 1e3:,.0f} "
        f"({100 * gain:+.0f} %, more in {ahead} of {len(shared)})"
    )


def _why(method: str, shared: Rows, reno: Rows, gains: Sequence[float]) -> str:
    started = [row for row in shared if any(row[name] for name in STARTS)]
    if not started:
        return "no connection had an estimate, so both start alike"
    values = [f"{text} {mean(started, name):.1f}" for name, text in STARTS.items() if mean(started, name)]
    given = f"the estimates set {' and '.join(values)} segments in {len(started)} of {len(shared)} connections"
    left, renos = mean(shared, "exit_window"), mean(reno, "exit_window")
    if left == left and renos == renos:
        given += f"; start-up ends at {left:.0f} segments, Reno's at {renos:.0f}"
    return f"{given}; {_reason(method, shared, reno, max(gains, key=abs))}"


def _reason(method: str, shared: Rows, reno: Rows, gain: float) -> str:
    lost, renos = mean(shared, "losses"), mean(reno, "losses")
    if gain > ALIKE and lost < renos:
        return f"{RENO} doubles its window until the queue overflows, and then repairs its losses"
    if gain > ALIKE:
        return f"{method} fills the path in fewer round trips"
    if gain < -ALIKE and lost > renos:
        return f"{method} starts with more than the path has space for, and then repairs its losses"
    if gain < -ALIKE:
        return f"{method} ends start-up below the path's window, and grows by a segment a round trip from there"
    return "that changes little on this path"
