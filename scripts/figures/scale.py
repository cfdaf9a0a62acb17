# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/scale.md: what grows with flows and windows."""

from __future__ import annotations

from scripts.figures import text
from scripts.figures.kinds import PACING, SCALE
from scripts.figures.records import Records
from scripts.figures.text import Value, number

MEBIBYTE = 1 << 20


def page(records: Records) -> str:
    opening = "Many flows, large windows, and what the pacer takes for them."
    return text.page("Scale", opening, [_windows(records), _pacer(records)])


def _windows(records: Records) -> str | None:
    entries = records.entries(SCALE)
    runs = [
        run
        for entry in entries
        for run in (entry.figures.window, entry.figures.window_3_losses, entry.figures.window_6_losses)
    ]
    rows: list[list[Value]] = [
        [run.lost, *(size / MEBIBYTE for size in (run.bytes, run.window, run.most_in_flight)), run.retransmissions]
        for run in runs
    ]
    shows = (
        "Two cores with 65,536 flows and 16 MiB of buffers each. The same command opens, uses and closes 65,536 "
        "connections at once and fails if one of them goes wrong. With no more losses than the ends keep holes "
        "(four), exactly what was lost goes again."
    )
    heads = ("segments lost", "sent, MiB", "window offered, MiB", "most in flight, MiB", "retransmissions")
    return text.tabled("The largest window", entries, shows, heads, rows, left=0)


def _pacer(records: Records) -> str | None:
    entries = records.entries(PACING)
    runs = [run for entry in entries for run in entry.figures.order]
    rows: list[list[Value]] = [
        [run.flows, run.clocks_booking_to_grant, _span(run.clocks_time_to_grant), _span(run.clocks_between_grants)]
        for run in runs
    ]
    shows = "Clocks of the pacer alone; the order of a million grants is compared with a heap for each number of flows."
    heads = ("flows", "due booking to grant", "instant to grant", "between grants that are due together")
    return text.tabled("The pacer", entries, shows, heads, rows, left=0)


def _span(clocks: tuple[int, int]) -> str:
    minimum, maximum = clocks
    return number(minimum) if minimum == maximum else f"{number(minimum)} to {number(maximum)}"
