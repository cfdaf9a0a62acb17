# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=linearity`: sent gap against received gap beside constant-rate traffic;
build/reports/linearity.json and .html."""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.experiments.linearity import page
from sim.experiments.linearity.figures import FIGURES, Figure, doubt, failures, meeting
from sim.experiments.linearity.sweep import GAPS_MS, Programs, receive, send
from sim.lib import build
from sim.lib.verilated import PRESET

REPORT = build.ROOT / "build" / "reports" / "linearity.json"
PAGE = REPORT.with_suffix(".html")
SECONDS = 1000  # virtual; as the thesis
RUNS = 10  # that share them, each with phases of its own


def measure(programs: Programs, seconds: float, seed: int, jobs: int) -> dict[str, Any]:
    with ThreadPoolExecutor(jobs) as pool:
        wanted = [(gap, seconds / RUNS, seed * RUNS + number) for gap in GAPS_MS for number in range(RUNS)]
        sent = list(pool.map(lambda run: send(programs, *run), wanted))
        runs = [sent[first : first + RUNS] for first in range(0, len(sent), RUNS)]

        def one(figure: Figure) -> dict[str, Any]:
            points = list(pool.map(lambda same: receive(programs, same, figure.cross, seed), runs))
            return {
                "figure": figure.number,
                "cross_sources": figure.cross,
                "meets_ms": meeting(points),
                "published_ms": figure.meets_ms,
                "points": points,
                "doubt": doubt(figure, points),
                "failures": failures(figure, points),
            }

        figures = [one(figure) for figure in FIGURES]
    said = [failure for figure in figures for failure in figure["failures"]]
    doubts = [figure["doubt"] for figure in figures if figure["doubt"]]
    return {
        "passed": not said and not doubts,
        "failures": said,
        "doubts": doubts,
        "seed": seed,
        "seconds": seconds,
        "figures": figures,
    }


def main() -> int:
    seed, jobs = int(os.environ.get("SEED") or 1), int(os.environ.get("JOBS") or 2)
    seconds = float(os.environ.get("DURATION") or SECONDS)
    try:
        programs = Programs(build.gap() / "gap_bench", build.experiment(PRESET) / "downbeat_experiment")
        begin = time.monotonic()
        report = measure(programs, seconds, seed, jobs)
    except (build.BuildFailed, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    wall = {"seconds": round(time.monotonic() - begin, 1)}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps({**report, "wall_clock": wall}, indent=2) + "\n")
    PAGE.write_text(page.render(report))
    _print(report, wall["seconds"])
    return 1 if report["failures"] else 0


def _print(report: dict[str, Any], wall: float) -> None:
    table = Table(title="Received gap (mean and its standard error, ms) by sent gap", title_justify="left")
    table.add_column("sent, ms")
    for figure in report["figures"]:
        table.add_column(f"{figure['figure']}: {figure['cross_sources']} CBR", justify="right")
    for row, gap in enumerate(GAPS_MS):
        table.add_row(str(gap), *(_mean(figure["points"][row]) for figure in report["figures"]))
    table.add_section()
    for title, name in (("meets y = x at", "meets_ms"), ("published", "published_ms")):
        table.add_row(title, *(str(figure[name] or "never") for figure in report["figures"]))
    report_console().print(table)
    pairs = sum(point["pairs"] for figure in report["figures"] for point in figure["points"])
    print(
        f"seed {report['seed']}, {report['seconds']:g} simulated seconds, {pairs:,} pairs received; {wall:.0f} s of wall time"
    )
    for failure in report["failures"]:
        print(f"WRONG: {failure}")
    for line in report["doubts"]:
        print(line)
    verdict = "WRONG" if report["failures"] else "too short to judge" if report["doubts"] else "all right"
    print(f"{verdict}; {REPORT.relative_to(build.ROOT)}, {PAGE.name}")


def _mean(point: dict[str, Any]) -> str:
    return f"{point['received_ms']:.2f} ± {point['standard_error_ms']:.2f}"


if __name__ == "__main__":
    sys.exit(main())
