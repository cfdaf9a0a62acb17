# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=carson`: the ratios of Kannan's tables 6.1, 6.3 and 6.5, Carson to Reno, both ours;
build/reports/carson.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

from downbeat.console import report_console
from rich.table import Table

from sim.experiments.engine.confidence import estimate
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "carson.json"
LIMIT_SECONDS = 3600  # wall time, of one run
TOLERANCE = 0.05
PACKET_BITS = 8000  # the thesis's; speeds are told in its packets
PAYLOAD = 1460
Flow = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A table of the thesis: which senders run together, each list a run, and for how long.

    The queue is figure 3.1's, except where the table's own windows cannot lie in it: 8 windows of 8.1 packets are twice
    what pipe and 15 packets hold. They fit ns-2's usual 50.
    """

    table: str
    runs: tuple[tuple[str, ...], ...]
    duration: float  # virtual seconds
    published: dict[str, tuple[float, float]]  # quantity: Carson, Reno
    queue: int = 15  # packets


CASES = (
    Case(
        "6.1",
        (("carson",), ("reno",)),
        500,
        {
            "window": (27.78, 24.80),
            "speed": (0.948, 0.944),
            "interval": (647.25, 455.29),
            "first 80 intervals": (647.25, 455.29),
        },
    ),
    Case(
        "6.3",
        (("carson", "reno"),),
        400,
        {"window": (14.64, 12.68), "speed": (0.518, 0.437), "interval": (240.23, 140.33)},
    ),
    Case(
        "6.5",
        (("carson",) * 8, ("reno",) * 8),
        400,
        {"window": (8.1, 7.0), "speed": (0.121, 0.109), "interval": (73.38, 49.47)},
        queue=50,
    ),
)
QUANTITIES: dict[str, Callable[[Flow], float]] = {
    "window": lambda flow: float(flow["window"]),  # packets
    "speed": lambda flow: flow["received"] / PAYLOAD * PACKET_BITS / flow["seconds"] / 1e6,  # Mb/s
    "interval": lambda flow: fmean(flow["intervals"]) if flow["intervals"] else float("nan"),  # packets
    # What four steady decisions take. The thesis's came within 440 s of table 6.1: at its speed a mean of 652.
    "first 80 intervals": lambda flow: fmean(flow["intervals"][:80]) if flow["intervals"] else float("nan"),
}


def run(program: Path, case: Case, policies: Sequence[str], argument: int, seed: int) -> dict[str, Any]:
    command = [str(program), f"--policies={','.join(policies)}", f"--duration={case.duration}", f"--seed={seed}"]
    command += [f"--carson-argument={argument}", f"--queue={case.queue}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    if not done.stdout:
        return {"failure": f"status {done.returncode}: {done.stderr[-500:]}", "flows": []}
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def means(runs: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Of one seed: each quantity's mean over the flows of a policy."""
    flows: list[Flow] = [flow for said in runs for flow in said["flows"]]
    return {
        quantity: {
            steady: fmean(value(flow) for flow in flows if flow["steady"] == steady) for steady in ("carson", "reno")
        }
        for quantity, value in QUANTITIES.items()
    }


def judge(case: Case, seeds: Sequence[dict[str, dict[str, float]]]) -> list[dict[str, Any]]:
    rows = []
    for quantity, (carson, reno) in case.published.items():
        ratio = estimate([seed[quantity]["carson"] / seed[quantity]["reno"] for seed in seeds])
        rows.append(
            {
                "table": case.table,
                "quantity": quantity,
                "carson": fmean(seed[quantity]["carson"] for seed in seeds),
                "reno": fmean(seed[quantity]["reno"] for seed in seeds),
                "ratio": ratio.mean,
                # A single run has no interval, and JSON no infinity.
                "confidence_95": [ratio.low, ratio.high] if isfinite(ratio.half_width) else [None, None],
                "published": {"carson": carson, "reno": reno, "ratio": carson / reno},
                "seeds": len(seeds),
                "queue_packets": case.queue,
                "within": ratio.verdict(carson / reno, TOLERANCE) == "yes",
                "verdict": ratio.verdict(carson / reno, TOLERANCE),
            }
        )
    return rows


def table(rows: Sequence[dict[str, Any]]) -> Table:
    wide = Table(title="Carson to Reno on the thesis's dumbbell", title_justify="left")
    for name in ("table", "quantity"):
        wide.add_column(name, no_wrap=True)
    for name in ("Carson", "Reno", "ratio", "95 %", "published", f"within {TOLERANCE}"):
        wide.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        low, high = row["confidence_95"]
        wide.add_row(
            row["table"],
            row["quantity"],
            *(f"{row[steady]:.3f}" for steady in ("carson", "reno")),
            f"{row['ratio']:.3f}",
            "one seed has none" if low is None else f"{low:.3f} .. {high:.3f}",
            f"{row['published']['ratio']:.3f}",
            row["verdict"],
        )
    return wide


def main() -> int:
    seeds = range(1, int(os.environ.get("SEEDS") or 20) + 1)
    argument = int(os.environ.get("FASTDROP") or 0)
    chosen = (os.environ.get("TABLE") or ",".join(case.table for case in CASES)).split(",")
    console = report_console()
    program = build.shown(console, build.carson) / "downbeat_carson"
    rows: list[dict[str, Any]] = []
    records, failures = [], []
    start = time.monotonic()
    for case in (case for case in CASES if case.table in chosen):
        jobs = [(seed, policies) for seed in seeds for policies in case.runs]
        with ThreadPoolExecutor(int(os.environ.get("JOBS") or 1)) as pool:
            said = list(pool.map(lambda job, case=case: run(program, case, job[1], argument, job[0]), jobs))
        failures += [
            f"{case.table}, seed {job[0]}: {one['failure']}"
            for job, one in zip(jobs, said, strict=True)
            if one["failure"]
        ]
        whole = [[one for job, one in zip(jobs, said, strict=True) if job[0] == seed] for seed in seeds]
        good = [means(runs) for runs in whole if not any(one["failure"] for one in runs)]
        if good:
            rows += judge(case, good)
        records.append(
            {"table": case.table, "runs": [{"seed": job[0], **one} for job, one in zip(jobs, said, strict=True)]}
        )
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    wall = {"seconds": round(time.monotonic() - start, 1)}
    report = {"fastdrop": argument, "results": rows, "failures": failures, "records": records, "wall_clock": wall}
    REPORT.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n")
    console.print(table(rows))
    for failure in failures:
        print(f"Failed: {failure}", file=sys.stderr)
    return 1 if failures or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
