# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=events`: events a clock of the engine alone at its ports, by order of flows and by policies;
build/reports/events.json.

"Passing" events are of flows without a connection, and cause nothing; "sending" are connections that transfer data.
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rich.console import Console
from rich.table import Table

from sim.bench.events.cases import BenchFailed, Case, all_cases, run
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "events.json"
EVENTS = 1_000_000
COLUMNS = ("load", "policies", "order", "flows", "events", "clocks", "events a clock", "segments", "calculations")


def main() -> int:
    seed, jobs = int(os.environ.get("SEED") or 1), int(os.environ.get("JOBS") or 2)
    begin = time.monotonic()

    def measured(case: Case) -> dict[str, Any]:
        figures = run(case, EVENTS, seed, program)
        print(f"  {case}: {figures['rate']:.4f} events a clock", flush=True)
        return figures

    try:
        program = build.events() / "events_bench"
        print(f"seed {seed}", flush=True)
        with ThreadPoolExecutor(jobs) as pool:
            cases = list(pool.map(measured, all_cases()))
    except (build.BuildFailed, BenchFailed) as failure:
        print(failure, file=sys.stderr)
        return 1
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    # Figures that depend on the machine come last.
    wall = {"wall_clock": {"seconds": round(time.monotonic() - begin, 1)}}
    REPORT.write_text(json.dumps({"seed": seed, "cases": cases} | wall, indent=1) + "\n")
    REPORT.with_suffix(".md").write_text(markdown(cases))
    table = Table(title=f"the engine at its ports, seed {seed}", title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column in COLUMNS[:3] else "right")
    for figures in cases:
        table.add_row(*row(figures))
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    print(REPORT.relative_to(build.ROOT))
    return 0


def row(figures: dict[str, Any]) -> list[str]:
    texts = [figures["load"], figures["policies"], figures["order"]]
    counts = [figures[name] for name in ("flows", "events", "clocks")]
    caused = [figures.get("segments"), figures.get("calculations")]
    return [
        *texts,
        *(f"{count:,}" for count in counts),
        f"{figures['rate']:.4f}",
        *("" if count is None else f"{count:,}" for count in caused),
    ]


def markdown(cases: list[dict[str, Any]]) -> str:
    """The table of docs/how-to/synthesize.md."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * 3}{' ---: |' * (len(COLUMNS) - 3)}"]
    return "\n".join(lines + [f"| {' | '.join(row(figures))} |" for figures in cases]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
