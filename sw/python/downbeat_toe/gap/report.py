# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Report of an analysis for people, and its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.table import Table

from downbeat_toe import output
from downbeat_toe.console import report_console
from downbeat_toe.gap import notes, plots
from downbeat_toe.gap.analysis import Analysis

console = report_console()
SHOWN = ("minimum", "p0.1", "p1", "p5", "p50", "p95", "p99", "p99.9", "maximum")
DISTANCES = ("p50", "p99", "p99.9")


def show(title: str, name: str, directory: Path, analyses: dict[str, Analysis], **more: Any) -> None:
    """Writes NAME.json and NAME.html into a directory that exists, then prints tables: a closed pipe costs no report.

    `analyses` by what they are of, the first one the main one.
    """
    main = next(iter(analyses.values())).data
    rest = {what: analysis.data for what, analysis in list(analyses.items())[1:]}
    (directory / f"{name}.json").write_text(json.dumps({**main, **rest, **more}, indent=2) + "\n")
    plots.write(directory / f"{name}.html", title, analyses)
    for ending in ("json", "html"):
        output.give_back(directory / f"{name}.{ending}")
    for what, analysis in analyses.items():
        console.print(table(what, analysis.data))
        for note in analysis.data["notes"]:
            console.print(note, style="yellow", markup=False)
        verdict = analysis.data.get("verdict", {"sentences": [], "sure": False})
        for sentence in verdict["sentences"]:
            console.print(sentence, style="bold" if verdict["sure"] else "", markup=False, soft_wrap=True)
    console.print(f"Report: {directory}/{name}.html, {name}.json", markup=False)


def table(title: str, data: dict[str, Any]) -> Table:
    drift, gaps, errors, capture = data["drift"], data["gaps"], data["gap_error_ns"], data["capture"]
    shown = Table(title=title, title_justify="left", show_header=False)
    shown.add_column(no_wrap=True)
    shown.add_column(justify="right")
    lost = ", ".join(f"{count} {cause}" for cause, count in data["frames"].items() if count and cause != "fine")
    disturbed = ", ".join(f"{count} {cause}" for cause, count in gaps["disturbed"].items() if count)
    uncertainty = drift["uncertainty_ppb"]
    for label, text in (
        ("stamps", capture["stamps"]),
        ("step of the stamps", f"{capture['stamp_step_ns']} ns"),
        ("frames", f"{data['frames']['fine']}" + (f"; {lost}" if lost else "")),
        ("gaps", f"{gaps['fine']}" + (f"; disturbed: {disturbed}" if disturbed else "")),
        ("scheduled gap", f"{gaps['scheduled_ns']['median']:,.0f} ns (median)"),
        ("drift", f"{drift['ppb']:.1f} ppb" + (f" ± {uncertainty:.1f}" if uncertainty is not None else "")),
        ("", notes.treatment(drift)),
        *((f"gap error {name}", f"{errors[name]:,.1f} ns") for name in SHOWN),
        *((f"|gap error| {name}", f"{errors['distance_' + name]:,.1f} ns") for name in DISTANCES),
        *(
            (f"Allan deviation at {_time(point['tau_ns'])}", f"{point['deviation']:.2e}")
            for point in _decades(data["allan"])
        ),
    ):
        shown.add_row(label, text)
    if data["delay_ns"] is not None:
        delay = data["delay_ns"]
        shown.add_row(
            "one-way delay min / p50 / p99",
            " / ".join(f"{delay[name]:,.0f}" for name in ("minimum", "p50", "p99")) + " ns",
        )
    return shown


def _decades(points: list[dict[str, float]]) -> list[dict[str, float]]:
    """The shortest interval and those that are ten times apart."""
    chosen: list[dict[str, float]] = []
    for point in points:
        if not chosen or point["tau_ns"] >= 10 * chosen[-1]["tau_ns"]:
            chosen.append(point)
    return chosen


def _time(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"
