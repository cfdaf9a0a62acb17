# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=latency`: wire to application, application to wire, an ACK to the data that it releases; at the pins,
and of the core alone at each width; build/reports/latency.json."""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.bench.latency import widths
from sim.bench.latency.cases import CASES, MEASURES, BenchFailed, Case, run
from sim.lib import build, verilated

REPORT = build.ROOT / "build" / "reports" / "latency.json"
COLUMNS = ("payload", "flows", "load", "core MHz", "min ns", "median", "99 %", "max", "median, clocks", "of the wire")


def main() -> int:
    seed, jobs = int(os.environ.get("SEED") or 1), int(os.environ.get("JOBS") or 2)
    begin = time.monotonic()

    def timed(case: Case) -> dict[str, Any]:
        figures = run(case, seed, program)
        print(f"  {case.measure}, {case.payload} bytes, {case.flows} flows, {case.load}", flush=True)
        return figures

    try:
        program = build.latency() / "latency_bench"
        print(f"seed {seed}", flush=True)
        with ThreadPoolExecutor(jobs) as pool:
            cases = list(pool.map(timed, CASES))
        alone = {width: widths.measure(width) for width in widths.WIDTHS}
    except (build.BuildFailed, BenchFailed) as failure:
        print(failure, file=sys.stderr)
        return 1
    report: dict[str, Any] = {"seed": seed, "preset": verilated.PRESET, "measures": MEASURES, "cases": cases}
    report |= {f"{name}_clocks": {width: clocks[name] for width, clocks in alone.items()} for name in MEASURES}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    # Figures that depend on the machine come last.
    wall = {"wall_clock": {"seconds": round(time.monotonic() - begin, 1)}}
    REPORT.write_text(json.dumps(report | wall, indent=2) + "\n")
    REPORT.with_suffix(".md").write_text("\n\n".join(markdown(measure, cases) for measure in MEASURES) + "\n")
    _print(cases)
    for width, clocks in alone.items():
        print(
            f"the core alone, beats of {width} bytes: "
            + ", ".join(f"{name} {clocks[name]}" for name in MEASURES)
            + " clocks"
        )
    print(REPORT.relative_to(build.ROOT))
    return 0


def row(figures: dict[str, Any]) -> list[str]:
    ns = figures["ns"]
    return [
        *(str(figures[name]) for name in ("payload", "flows", "load")),
        f"{1e6 / figures['core_ps']:g}",
        *(f"{ns[name]:,.0f}" for name in ("min", "median", "p99", "max")),
        f"{figures['clocks']['median']:,.0f}",
        f"{figures['wire_share']:.0%}",
    ]


def markdown(measure: str, cases: list[dict[str, Any]]) -> str:
    lines = [f"## {MEASURES[measure]}", "", f"| {' | '.join(COLUMNS)} |", f"|{' ---: |' * len(COLUMNS)}"]
    return "\n".join(lines + [f"| {' | '.join(row(figures))} |" for figures in cases if figures["measure"] == measure])


def _print(cases: list[dict[str, Any]]) -> None:
    for measure, title in MEASURES.items():
        table = Table(title=title, title_justify="left")
        for column in COLUMNS:
            table.add_column(column, justify="right")
        for figures in cases:
            if figures["measure"] == measure:
                table.add_row(*row(figures))
        report_console().print(table)


if __name__ == "__main__":
    sys.exit(main())
