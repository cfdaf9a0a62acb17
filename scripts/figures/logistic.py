# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic window's part of docs/reference/figures/papers.md."""

from __future__ import annotations

from scripts.figures import text
from scripts.figures.experiments import LogisticRow, TrackingRow
from scripts.figures.kinds import LOGISTIC
from scripts.figures.records import Records
from scripts.figures.text import Value, number, percent


def convergence(records: Records) -> str | None:
    entries = records.entries(LOGISTIC)
    rows: list[list[Value]] = [
        [
            row.rate_mbps,
            row.seconds_to_99,
            row.equation_12_seconds,
            row.queue_drops,
            percent(row.goodput_last_second),
            percent(row.goodput_of_target),
        ]
        for entry in entries
        for row in entry.figures.convergence
    ]
    shows = (
        "Time to 99 % of the window w*, beside equation 12 of Iguchi's thesis; then the share of the link that "
        "the last second and w* fill."
    )
    heads = ("link, Mb/s", "to 99 %, s", "Eq. 12, s", "lost", "last second", "w* fills")
    title = "Logistic window: convergence"
    return text.tabled(title, entries, shows, heads, rows, left=0)


def figure_10(records: Records) -> str | None:
    entries = records.entries(LOGISTIC)
    rows: list[list[Value]] = [
        [row.sender, row.seconds_to_full_link, row.queue_drops] for entry in entries for row in entry.figures.figure_10
    ]
    shows = (
        "Figure 10: one connection, 100 Mb/s, 70 ms. The logistic window fills the link without loss; the others "
        "find the buffer by losing."
    )
    heads = ("sender", "link full, s", "lost")
    title = "Logistic window: figure 10"
    return text.tabled(title, entries, shows, heads, rows)


def sweeps(records: Records) -> str | None:
    entries = records.entries(LOGISTIC)
    if not any(entry.figures.figure_12 or entry.figures.figure_13 for entry in entries):
        return None
    tables = []
    for entry in entries:
        for rows, unit, key in (
            (entry.figures.figure_12, "Mb/s", "rate_mbps"),
            (entry.figures.figure_13, "ms", "rtt_ms"),
        ):
            tables.append(_sweep(rows, unit, key))
    shows = (
        "Figures 12 (by rate, 70 ms) and 13 (by round trip, 100 Mb/s): seconds to a full link, packets lost in "
        "brackets; for the core also seconds to 99 % of w*, equation 12's in brackets. The core's time hardly "
        "depends on the path."
    )
    title = "Logistic window: figures 12 and 13"
    return text.section(title, text.commands(entries), shows, "\n\n".join(tables))


def _sweep(rows: list[LogisticRow], unit: str, key: str) -> str:
    values = sorted({float(getattr(row, key)) for row in rows})
    found = {(row.sender, float(getattr(row, key))): row for row in rows}
    senders = list(dict.fromkeys(row.sender for row in rows))
    body: list[list[Value]] = [["core, to 99 %", *(_to_99(found.get(("core", value))) for value in values)]]
    body += [[sender, *(_full(found.get((sender, value))) for value in values)] for sender in senders]
    return text.table(("", *(f"{number(value)} {unit}" for value in values)), body)


def _to_99(row: LogisticRow | None) -> str | None:
    return f"{number(row.seconds_to_99)} ({number(row.equation_12_seconds)})" if row else None


def _full(row: LogisticRow | None) -> str | None:
    return f"{number(row.seconds_to_full_link)} ({number(row.queue_drops)})" if row else None


def figure_15(records: Records) -> str | None:
    entries = records.entries(LOGISTIC)
    rows = [row for entry in entries for sender in entry.figures.figure_15 for row in _phases(sender)]
    shows = (
        "Figure 15: what is left of 100 Mb/s changes, and the core is told. Seconds until the window is within 1 "
        "% of w*, equation 10's in brackets; throughput of what is left and mean queue in each phase's second "
        "half."
    )
    heads = ("sender", "left, Mb/s", "to w*, s", "throughput", "queue, kB", "lost")
    title = "Logistic window: figure 15"
    return text.tabled(title, entries, shows, heads, rows)


def _phases(row: TrackingRow) -> list[list[Value]]:
    return [
        [
            *(row.sender, phase.available_mbps),
            f"{number(phase.seconds_to_target)} ({number(phase.equation_10_seconds)})"
            if phase.equation_10_seconds
            else None,
            *(percent(phase.goodput), phase.mean_queue_bytes / 1e3, phase.lost),
        ]
        for phase in row.phases
    ]
