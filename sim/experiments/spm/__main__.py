# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=spm`: SPM and Hoe beside one to four constant-rate sources; build/reports/spm.json and
spm.html."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.experiments.spm import page
from sim.experiments.spm.figures import INPUT_GAPS_MS, PATHS, failures, row
from sim.experiments.spm.transfer import Measured, run
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "spm.json"
PAGE = REPORT.with_suffix(".html")
RUNS = 20  # of each path, each with phases of its own


def measure(program: Path, work: Path, seed: int, runs: int, jobs: int) -> dict[str, Any]:
    def one(wanted: tuple[str, int, int]) -> Measured:
        policy, cross, number = wanted
        return run(program, work / f"{policy}-{cross}-{number}", policy, cross, number)

    seeds = range(seed * 1000, seed * 1000 + runs)
    wanted = [(policy, path.cross, number) for policy in ("spm", "hoe") for path in PATHS for number in seeds]
    with ThreadPoolExecutor(jobs) as pool:
        measured = list(pool.map(one, wanted))
    paths, said = [], list[str]()
    for path in PATHS:
        spm, hoe = (
            [each for each in measured if (each.policy, each.cross) == (name, path.cross)] for name in ("spm", "hoe")
        )
        figures = row(path, spm, hoe)
        said += failures(path, figures, [*spm, *hoe])
        paths.append({**figures, "spm": [asdict(each) for each in spm], "hoe": [asdict(each) for each in hoe]})
    events = sum(each.events for each in measured)
    return {"passed": not said, "failures": said, "seed": seed, "runs": runs, "events_compared": events, "paths": paths}


def main() -> int:
    seed, jobs = int(os.environ.get("SEED") or 1), int(os.environ.get("JOBS") or 2)
    runs = int(os.environ.get("RUNS") or RUNS)
    try:
        program = build.ns3(tap="header") / "downbeat_sim"
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        report = measure(program, Path(work), seed, runs, jobs)
    wall = {"seconds": round(time.monotonic() - begin, 1)}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps({**report, "wall_clock": wall}, indent=2) + "\n")
    PAGE.write_text(page.render(report))
    _print(report, wall["seconds"])
    return 0 if report["passed"] else 1


def _print(report: dict[str, Any], wall: float) -> None:
    outputs = " ".join(map(str, INPUT_GAPS_MS))
    table = Table(
        title=f"Mean output gaps (ms) for {outputs}; what each run made of its own samples", title_justify="left"
    )
    for title in ("CBR", "output gaps", "meet (thesis)", "estimates", "gap, ms", "segments (model)", "Hoe"):
        table.add_column(title, justify="right", no_wrap=True)
    for path in report["paths"]:
        spread = "-" if path["least_gap_ms"] is None else f", {path['least_gap_ms']:.0f} to {path['most_gap_ms']:.0f}"
        table.add_row(
            str(path["cross_sources"]),
            " ".join(f"{gap:.1f}" for gap in path["mean_output_gaps_ms"]),
            f"{path['meets_ms'] or 'never'} ({path['published_ms'] or 'never'})",
            f"{path['estimates']} of {path['runs']}",
            _number(path["median_gap_ms"]) + spread,
            f"{_number(path['median_segments'])} ({_number(path['model_segments'])})",
            _number(path["hoe_median_segments"]),
        )
    report_console().print(table)
    print(
        f"seed {report['seed']}, {report['events_compared']:,} events equal to the golden models; {wall:.0f} s of wall time"
    )
    for failure in report["failures"]:
        print(f"WRONG: {failure}")
    print(f"{'all right' if report['passed'] else 'WRONG'}; {REPORT.relative_to(build.ROOT)}, {PAGE.name}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")


if __name__ == "__main__":
    sys.exit(main())
