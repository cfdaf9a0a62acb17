# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=logistic`: the logistic window over ns-3, beside ns-3's Reno, HighSpeed and Scalable.

build/reports/logistic_figures.json and .html; figures 10, 12, 13 and 15 of Iguchi's thesis, chapter 5.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from rich.console import Console
from rich.table import Table

from sim.experiments.logistic import page, tracking
from sim.experiments.logistic.runs import Bottleneck, Run, RunFailed, mismatches, run
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "logistic_figures.json"
PAGE = REPORT.with_suffix(".html")
FIGURES = ("convergence", "10", "12", "13", "15")
OTHERS = ("reno", "highspeed", "scalable")
MEGABIT = 1_000_000
# Two links of 5 ms and one of 25 ms, there and back: his common topology.
RTT = 0.07
TOLERANCE = 0.02  # of equation 12

# The three rates, 10 s each.
CONVERGENCE = [Bottleneck(rate * MEGABIT, 0.06) for rate in (10, 100, 1000)]
FIGURE_10 = Bottleneck(100 * MEGABIT, RTT)
FIGURE_12 = [Bottleneck(rate * MEGABIT, RTT, 1.0, rate * MEGABIT // 5) for rate in (10, 20, 50, 100)]
FIGURE_13 = [Bottleneck(100 * MEGABIT, 2 * (tau + 10) / 1e3, 2.0, 20 * MEGABIT) for tau in (10, 25, 50, 100, 200)]

REPLAYED = 100 * MEGABIT  # up to this rate every event is compared with the golden models

Measured = Callable[[str, Bottleneck, float], Run]


def convergence(program: Path, seed: int) -> list[dict[str, Any]]:
    """Time to 99 % against Eq. 12, what is lost, and the golden models."""
    rows = []
    for path in CONVERGENCE:
        with tempfile.TemporaryDirectory() as directory:
            recorded = Path(directory) / "events.csv" if path.rate <= REPLAYED else None
            done = run(program, "core", path, 10, seed, recorded)
            events, differ = mismatches(recorded, path) if recorded else (0, 0)
        took, equation = done.seconds_to_99, done.equation_12
        failures = []
        if took is None or abs(took / equation - 1) > TOLERANCE:
            failures.append(f"{path.rate // MEGABIT} Mb/s: {took} s to 99 %, equation 12 says {equation:.3f} s")
        if took is not None and done.drops_after(took):
            failures.append(f"{path.rate // MEGABIT} Mb/s: {done.drops_after(took)} packets lost after convergence")
        if differ:
            failures.append(f"{path.rate // MEGABIT} Mb/s: {differ} of {events} events differ from the golden models")
        more = {"goodput_of_target": done.goodput_of_target, "events_replayed": events, "mismatches": differ}
        rows.append(_row(done) | more | {"failures": failures})
    return rows


def series(measure: Measured, seconds: float, senders: Sequence[str]) -> list[dict[str, Any]]:
    """Figure 10: windows in time."""
    return [_row(done) | _curve(done) for done in (measure(sender, FIGURE_10, seconds) for sender in senders)]


def sweep(
    measure: Measured, paths: Sequence[Bottleneck], seconds: float, senders: Sequence[str]
) -> list[dict[str, Any]]:
    """Figures 12 and 13: the time until the link is full, by rate or by delay."""
    return [_row(measure(sender, path, seconds)) for path in paths for sender in senders]


def changes(measure: Measured, senders: Sequence[str]) -> list[dict[str, Any]]:
    """Figure 15: windows in time while UDP comes and goes."""
    path = tracking.path()
    whole = (measure(sender, path, len(path.steps()) * tracking.PHASE) for sender in senders)
    return [_row(done) | _curve(done) | {"phases": tracking.phases(done)} for done in whole]


def _row(done: Run) -> dict[str, Any]:
    took, data = done.seconds_to_99, done.data
    core = {
        "smallest_rtt_ms": data["smallest_rtt_ns"] / 1e6,
        "target_bytes": done.target,
        "seconds_to_99": took,
        "equation_12_seconds": done.equation_12,
        "drops_after_99": None if took is None else done.drops_after(took),
        "calculations": data["calculations"],
    }
    return {
        "sender": done.sender,
        "rate_mbps": done.path.rate / MEGABIT,
        "rtt_ms": done.path.rtt * 1e3,
        "udp_mbps": done.path.udp / MEGABIT,
        "virtual_seconds": data["seconds"][-1],
        "seconds_to_full_link": done.seconds_to_full,
        "goodput_last_second": done.goodput(1),
        "queue_drops": data["queue_drops"],
        "segments": data["segments"],
        "retransmissions": data["retransmissions"],
        "wall_clock": {"seconds": round(data["wall_seconds"], 1)},
    } | (core if done.sender == "core" else {})


def _curve(done: Run) -> dict[str, Any]:
    """At most a thousand points."""
    step = max(len(done.data["seconds"]) // 1000, 1)
    names = {"seconds": "seconds", "cwnd_bytes": "cwnd", "queue_bytes": "queue"}
    return {"curve": {name: done.data[own][::step] for name, own in names.items()}}


def main() -> int:
    seed, begin = int(os.environ.get("SEED") or 1), time.monotonic()
    seconds = float(os.environ.get("DURATION") or 30)
    chosen = (os.environ.get("FIGURE") or ",".join(FIGURES)).split(",")
    for unknown in set(chosen) - set(FIGURES):
        print(f"FIGURE={unknown}: there is no such figure, use {', '.join(FIGURES)}", file=sys.stderr)
        return 2
    senders = ("core",) if os.environ.get("COMPARE") == "0" else ("core", *OTHERS)
    console = report_console()
    try:
        with console.status("Building the simulation (the core takes minutes, once for each content)"):
            program = build.logistic() / "downbeat_logistic"
        measured = _measuring(program, seed, console)
        parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
            "convergence": lambda: convergence(program, seed),
            "figure_10": lambda: series(measured, seconds, senders),
            "figure_12": lambda: sweep(measured, FIGURE_12, seconds, senders),
            "figure_13": lambda: sweep(measured, FIGURE_13, seconds, senders),
            "figure_15": lambda: changes(measured, senders),
        }
        report: dict[str, Any] = {"seed": seed, "virtual_seconds": seconds}
        report |= {name: part() if name.removeprefix("figure_") in chosen else [] for name, part in parts.items()}
    except (build.BuildFailed, RunFailed) as error:
        print(error, file=sys.stderr)
        return 2
    report["failures"] = [failure for row in report["convergence"] for failure in row["failures"]]
    report["failures"] += [failure for row in report["figure_15"] for failure in _untracked(row)]
    report["passed"] = not report["failures"]
    report["wall_clock"] = {"seconds": round(time.monotonic() - begin, 1)}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    PAGE.write_text(page.render(report))
    console.print(_table(report))
    console.print(f"Report: {REPORT.relative_to(build.ROOT)}, {PAGE.name}", markup=False)
    for failure in report["failures"]:
        print(f"Failed: {failure}; again: make experiment NAME=logistic SEED={seed}", file=sys.stderr)
    return 0 if report["passed"] else 1


def _untracked(row: dict[str, Any]) -> list[str]:
    """What figure 15 claims of the logistic window and this run does not show."""
    if row["sender"] != "core":
        return []
    told = [f"{row['queue_drops']} packets lost"] if row["queue_drops"] else []
    late = (phase for phase in row["phases"] if phase["seconds_to_target"] is None)
    told += [f"at {phase['available_mbps']} Mb/s the window is not within 1 % of w*" for phase in late]
    return [f"figure 15: {failure}" for failure in told]


def _measuring(program: Path, seed: int, console: Console) -> Measured:
    def measure(sender: str, path: Bottleneck, duration: float) -> Run:
        with console.status(f"{sender}, {path.rate // MEGABIT} Mb/s, {path.rtt * 1e3:.0f} ms, {duration:g} s"):
            return run(program, sender, path, duration, seed)

    return measure


def _table(report: dict[str, Any]) -> Table:
    table = Table(title="The logistic window over ns-3", title_justify="left")
    names = (
        "",
        "sender",
        "Mb/s",
        "RTT, ms",
        "to 99 %, s",
        "Eq. 12, s",
        "link full, s",
        "last second",
        "lost",
        "resent",
    )
    for name in names:
        table.add_column(name, justify="right" if name not in ("", "sender") else "left", no_wrap=True)

    def seconds(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    for part in ("convergence", "figure_10", "figure_12", "figure_13", "figure_15"):
        for row in report[part]:
            table.add_row(
                part.replace("_", " "),
                row["sender"],
                f"{row['rate_mbps']:g}",
                f"{row['rtt_ms']:g}",
                seconds(row.get("seconds_to_99")),
                seconds(row.get("equation_12_seconds")),
                seconds(row["seconds_to_full_link"]),
                f"{row['goodput_last_second']:.1%}",
                str(row["queue_drops"]),
                str(row["retransmissions"]),
            )
    return table


if __name__ == "__main__":
    sys.exit(main())
