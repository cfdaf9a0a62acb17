# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make gap`: departures, gaps and rates at the MAC's pins; build/reports/gap.json and gap.html."""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from downbeat_toe.refused import Refused
from rich.console import Console
from rich.table import Table

from sim.bench.gap import page, table
from sim.bench.gap.cases import CASES, Case, of_file
from sim.bench.gap.run import run
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "gap.json"
PAGE = REPORT.with_suffix(".html")


def main() -> int:
    seed, jobs = int(os.environ.get("SEED") or 1), int(os.environ.get("JOBS") or 2)
    chosen: tuple[Case, ...] = CASES
    begin = time.monotonic()
    try:
        if schedule := os.environ.get("SCHEDULE"):
            chosen = (of_file(Path(schedule)),)
        program = build.gap() / "gap_bench"
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    except Refused as error:
        print(f"SCHEDULE={error}", file=sys.stderr)
        return 2
    built = time.monotonic()
    print(f"seed {seed}", flush=True)
    seconds: dict[str, float] = {}

    def timed(case: Case) -> dict[str, Any]:
        start = time.monotonic()
        figures = run(case, seed, program)
        seconds[case.name] = round(time.monotonic() - start, 1)
        verdict = "; ".join(figures["failures"]) or "right"
        print(f"  {case.name} ({seconds[case.name]:.0f} s): {verdict}", flush=True)
        return figures

    with ThreadPoolExecutor(jobs) as pool:
        cases = list(pool.map(timed, chosen))
    failures = [f"{figures['case']}: {failure}" for figures in cases for failure in figures["failures"]]
    report = {"passed": not failures, "failures": failures, "seed": seed, "cases": cases}
    wall = {"seconds": round(time.monotonic() - begin, 1), "build": round(built - begin, 1), "cases": seconds}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    # Figures that depend on the machine come last.
    REPORT.write_text(json.dumps({**report, "wall_clock": wall}, indent=2) + "\n")
    PAGE.write_text(page.render(report))
    REPORT.with_suffix(".md").write_text(table.markdown(report))
    _print(report, wall)
    return 1 if failures else 0


def _print(report: dict[str, Any], wall: dict[str, Any]) -> None:
    wide = Table(title="The gap bench: what stood at the GMII pins", title_justify="left")
    for title in table.TITLES:
        wide.add_column(title, justify="left" if title == "case" else "right", no_wrap=title == "case")
    for figures in report["cases"]:
        wide.add_row(*table.row(figures))
    Console(width=150).print(wide)
    clocks = sum(figures["simulated_clocks"] for figures in report["cases"])
    busy = sum(wall["cases"].values())
    print(
        f"{wall['seconds']:.0f} s of wall time, {wall['build']:.0f} s to build; {clocks / 1e6:.0f} M clocks of pacer and MAC "
        f"at {clocks / busy / 1e6:.2f} M a second and process"
    )
    for failure in report["failures"]:
        print(f"WRONG: {failure}")
    names = f"{REPORT.relative_to(build.ROOT)}, {PAGE.name}"
    print(f"{'all right' if report['passed'] else 'WRONG'}; {names}")


if __name__ == "__main__":
    sys.exit(main())
