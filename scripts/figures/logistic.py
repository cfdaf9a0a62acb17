# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic window's part of docs/reference/figures/papers.md."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.figures import text
from scripts.figures.experiments import Logistic, LogisticRow, Phase, TrackingRow
from scripts.figures.kinds import LOGISTIC
from scripts.figures.records import Records
from scripts.figures.text import Value, number, percent

SHOWS = (
    "Figures of Iguchi's thesis, beside ns-3's Reno, which finds the buffer by losing packets. HighSpeed and Scalable do "
    "likewise (`logistic_figures.json`)."
)
SENDERS = {"core", "reno"}
CONVERGENCE = (
    "Seconds to 99 % of the window w\\*, beside equation 12; then the share of the link that the last second and that "
    "window fill."
)
SWEEPS = (
    "Figures 12 (by rate, 70 ms) and 13 (by round trip, 100 Mb/s): seconds to a full link, packets lost in brackets; "
    "for the core also seconds to 99 % of w\\*, equation 12's in brackets."
)
FIGURE_15 = (
    "Figure 15: what is left of 100 Mb/s changes, and the core is told. Throughput, share of what is left; mean queue, "
    "kB, both in each phase's second half; packets lost in the phase. For the core also seconds until the window is "
    "within 1 % of w\\*, equation 10's in brackets."
)


def section(records: Records) -> str | None:
    entries = records.entries(LOGISTIC)
    parts = [part for entry in entries for part in _parts(entry.figures)]
    return text.section("Logistic window", text.commands(entries), SHOWS, "\n\n".join(parts)) if parts else None


def _parts(figures: Logistic) -> Iterator[str]:
    yield from (text.prose(CONVERGENCE), _convergence(figures.convergence))
    yield from (text.prose(SWEEPS), _sweep(figures.figure_12, "Mb/s", "rate_mbps"))
    yield _sweep(figures.figure_13, "ms", "rtt_ms")
    yield from (text.prose(FIGURE_15), _figure_15(figures.figure_15))


def _convergence(rows: list[LogisticRow]) -> str:
    body: list[list[Value]] = [
        [
            *(row.rate_mbps, row.seconds_to_99, row.equation_12_seconds),
            *(percent(row.goodput_last_second), percent(row.goodput_of_target)),
        ]
        for row in rows
    ]
    return text.table(("link, Mb/s", "to 99 %, s", "Eq. 12, s", "last second", "w* fills"), body, left=0)


def _sweep(rows: list[LogisticRow], unit: str, key: str) -> str:
    values = sorted({float(getattr(row, key)) for row in rows})
    found = {(row.sender, float(getattr(row, key))): row for row in rows}
    senders = [sender for sender in dict.fromkeys(row.sender for row in rows) if sender in SENDERS]
    body: list[list[Value]] = [["core, to 99 %", *(_to_99(found.get(("core", value))) for value in values)]]
    body += [[sender, *(_full(found.get((sender, value))) for value in values)] for sender in senders]
    return text.table(("", *(f"{number(value)} {unit}" for value in values)), body)


def _to_99(row: LogisticRow | None) -> str | None:
    return f"{number(row.seconds_to_99)} ({number(row.equation_12_seconds)})" if row else None


def _full(row: LogisticRow | None) -> str | None:
    return f"{number(row.seconds_to_full_link)} ({number(row.queue_drops)})" if row else None


def _figure_15(rows: list[TrackingRow]) -> str:
    phases = rows[0].phases if rows else []
    body: list[list[Value]] = [["core, to w\\*", *(_to_target(phase) for row in rows[:1] for phase in row.phases)]]
    body += [[row.sender, *(_phase(phase) for phase in row.phases)] for row in rows if row.sender in SENDERS]
    return text.table(("", *(f"{phase.available_mbps} Mb/s left" for phase in phases)), body)


def _to_target(phase: Phase) -> str:
    return f"{number(phase.seconds_to_target)} ({number(phase.equation_10_seconds)})"


def _phase(phase: Phase) -> str:
    return f"{percent(phase.goodput)}, {number(phase.mean_queue_bytes / 1e3)}, {number(phase.lost)}"
