# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/gaps.md: departures, gaps and rates."""

from __future__ import annotations

from collections.abc import Iterable

from scripts.figures import text
from scripts.figures.benches import GapCase
from scripts.figures.kinds import GAP, LINUX_PACING, SELFTEST
from scripts.figures.records import Records
from scripts.figures.text import Value, number

LONG_SECONDS = 10  # a rate over less has the byte grid in its error


def page(records: Records) -> str:
    opening = "How exactly frames leave and gaps are measured: the core in simulation, and software on a virtual cable."
    return text.page("Departures and gaps", opening, [_bench(records), _software(records)])


def _bench(records: Records) -> str | None:
    entries = records.entries(GAP)
    groups: dict[str, list[GapCase]] = {}
    for case in (case for entry in entries for case in entry.figures.cases):
        groups.setdefault(_group(case.case), []).append(case)
    if not groups:
        return None
    shows = (
        "Pacer, launch gate and MAC in simulation, judged at the GMII pins at 1 Gb/s. *Unexpected*: frames at "
        "another byte time than launch and earlier frames demand. Errors are the largest of all cases, in ns; a "
        "byte time is 8 ns. Frames are late only where launches conflict: in *conflict*, and where paced flows "
        "meet at *any phase*."
    )
    heads = (
        *("cases", "frames", "late", "unexpected", "SFD after launch"),
        *("sent gap off", "measured gap off", f"rate error, {LONG_SECONDS} s"),
    )
    rows = [_row(name, cases) for name, cases in groups.items()]
    return text.tabled("The core", entries, shows, heads, rows)


def _group(case: str) -> str:
    first = case.split(",")[0]
    return f"{first}, any phase" if case.endswith("any phase") else first


def _row(name: str, cases: list[GapCase]) -> list[Value]:
    long = [case for case in cases if (case.rate_seconds or 0) >= LONG_SECONDS]
    return [
        name,
        sum(case.frames or case.grants or 0 for case in cases),
        _sum(case.late for case in cases),
        _sum(case.unexpected for case in cases),
        _max(case.error_ns.max if case.error_ns else None for case in cases),
        _max(case.max_sent_gap_error_ns for case in cases),
        _max(case.max_measured_gap_error_ns for case in cases),
        _max(case.rate_error for case in long if not case.late),
    ]


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _max(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _software(records: Records) -> str | None:
    selftests, linux = records.entries(SELFTEST), records.entries(LINUX_PACING)
    rows: list[list[Value]] = []
    for entry in selftests:
        for name, errors in (
            ("stamps of `downbeat gap live`: arrivals against departures", entry.figures.arrivals),
            ("`downbeat replay`, busy waiting: departures against schedule", entry.figures.departures),
        ):
            found = errors.gap_error_ns
            rows.append([name, found.p50, found.p99, found.p999])
    for each in linux:
        spans = (each.figures.p50_ns, each.figures.p99_ns, each.figures.p999_ns)
        rows.append(["Linux TCP, `SO_MAX_PACING_RATE`", *(f"{number(low)} to {number(high)}" for low, high in spans)])
    if not rows:
        return None
    shows = (
        "Gap errors without sign, in ns, on a shared virtual machine with 2 processors under load. A range is of "
        "three runs."
    )
    heads = ("what is compared", "median", "99 % within", "99.9 % within")
    return text.section("Software", text.commands([*selftests, *linux]), shows, text.table(heads, rows))
