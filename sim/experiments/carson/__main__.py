# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=carson`: the ratios of Kannan's tables 6.1, 6.3 and 6.5, Carson to Reno, both ours;
build/reports/carson.json."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

from downbeat_toe.console import report_console
from downbeat_toe.refused import Refused
from rich.table import Table

from sim.experiments.engine import command, lines
from sim.experiments.engine.confidence import estimate
from sim.experiments.engine.load import Policies
from sim.experiments.engine.runs import Interrupted, Result, Runs
from sim.experiments.engine.schema import Experiment
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "carson.json"
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


def experiment(case: Case, policies: Sequence[str], argument: int) -> Experiment:
    """Figure 3.1: a core for each sender, 2 Mb/s 10 ms; R1 - R2 1 Mb/s 40 ms; receivers 2 Mb/s 10 ms; packets of 1,000
    bytes, an ACK for each.

    ns-2 begins with the window that its sender may use at most, 20 packets unless told; what the thesis told it is not
    known. Without one slow start overshoots the queue by thirty packets, and what is in flight at the timeout that
    follows sets the next slow start's end as high.
    """
    access = {"rate": "2 Mb/s", "delay": "10 ms"}
    sender = {"to": 1, "ssthresh": "20 packets", "start": {"uniform": ["1 ms", "1 s"]}}
    told = {"carson": f"fastdrop={argument}", "reno": ""}
    flows = [
        {**sender, "label": f"{steady}-{number}", "steady": steady, "steady_argument": told[steady]}
        for number, steady in enumerate(policies)
    ]
    queue = {"size": f"{case.queue} packets"}
    return Experiment.model_validate(
        {
            "name": "carson",
            "title": f"Table {case.table}",
            "source": "Kannan, thesis",
            "topology": {
                "kind": "dumbbell",
                "link": {"rate": "1 Mb/s", "delay": "40 ms", "queue": queue},
                "access": access,
            },
            "run": {"duration": f"{case.duration} s", "packet": "1000 B"},
            "flow": flows,
        }
    )


def record(seed: int, done: Result) -> dict[str, Any]:
    """What carson.json keeps of a run."""
    names = ("received", "seconds", "window", "segments", "retransmissions", "timeouts", "intervals")
    flows = [
        {"steady": flow["label"].partition("-")[0], "rtt_ns": flow["rtt"] * 1e9, **{name: flow[name] for name in names}}
        for flow in done["flows"]
    ]
    drops = done["links"][0]["dropped"]
    return {"seed": seed, "failure": done["failure"], "drops": drops, "flows": flows, "settings": lines.NS3}


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


def carry_out(
    engine: Runs, program: Path, policies: Policies, case: Case, argument: int, seeds: Sequence[int]
) -> list[dict[str, Any]]:
    wanted = [
        (seed, lines.plan(experiment(case, run, argument), policies, seed)) for seed in seeds for run in case.runs
    ]
    done = engine.all(program, [plan for _, plan in wanted], lambda *_: None)
    return [record(seed, one) for (seed, _), one in zip(wanted, done, strict=True)]


def jobs() -> int:
    return int(os.environ.get("JOBS") or 1)


def main() -> int:
    seeds = range(1, int(os.environ.get("SEEDS") or 20) + 1)
    argument = int(os.environ.get("FASTDROP") or 0)
    chosen = (os.environ.get("TABLE") or ",".join(case.table for case in CASES)).split(",")
    console = report_console()
    rows: list[dict[str, Any]] = []
    records, failures = [], []
    start = time.monotonic()
    try:
        policies = command.built_policies()
        program = build.shown(console, build.experiment) / "downbeat_experiment"
        engine = command.runner(jobs())
        for case in (case for case in CASES if case.table in chosen):
            said = carry_out(engine, program, policies, case, argument, seeds)
            failures += [f"{case.table}, seed {one['seed']}: {one['failure']}" for one in said if one["failure"]]
            whole = [[one for one in said if one["seed"] == seed] for seed in seeds]
            good = [means(runs) for runs in whole if not any(one["failure"] for one in runs)]
            rows += judge(case, good) if good else []
            records.append({"table": case.table, "runs": said})
    except (Interrupted, Refused) as error:
        print(error, file=sys.stderr)
        return 2
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
