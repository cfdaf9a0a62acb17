# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=fairness`: 64 flows of one core on equal paths, Jain's index of their goodputs;
build/reports/fairness.json."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.experiments.engine import command, lines, schema, units
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "fairness.json"
FLOWS = 64
LEAST_INDEX = 0.95


@dataclass(frozen=True)
class Experiment:
    """Equal paths, and where they are narrow."""

    name: str
    link_rate: int  # b/s, of the core
    rate: int  # of each path
    buffer: int  # packets, of each path
    rtt: int  # ns
    warm_up: float  # virtual seconds
    duration: float


# Narrow at the core's own link, its engine and its gate decide who sends; on each path, its congestion control and
# recovery do.
EXPERIMENTS = (
    Experiment("core's link", 100_000_000, 1_000_000_000, 1000, 20_000_000, 1, 3),
    Experiment("each path", 1_000_000_000, 1_500_000, 20, 40_000_000, 4, 8),
)


def jain(shares: Sequence[float]) -> float:
    """R. Jain, D. Chiu, W. Hawe, DEC-TR-301 (1984): from 1 / n, one has all, to 1, all have the same."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 0.0


def network(experiment: Experiment) -> schema.Experiment:
    """A star: each flow has a path of its own to a host that delays ACKs. A tenth of the way is the core's link."""
    near, far = experiment.rtt // 20, experiment.rtt // 2 - experiment.rtt // 20
    # The core's link counts the bytes on its wire.
    access = {"rate": f"{experiment.link_rate * units.PPP // units.WIRE} b/s", "delay": f"{near} ns"}
    path = {"rate": f"{experiment.rate} b/s", "delay": f"{far} ns", "queue": {"size": f"{experiment.buffer} packets"}}
    return schema.Experiment.model_validate(
        {
            "name": "fairness",
            "title": experiment.name,
            "source": "none",
            "topology": {"kind": "star", "link": path, "access": {"rate": "10 Gb/s", "delay": "1 us"}},
            "run": {
                "duration": f"{experiment.warm_up + experiment.duration} s",
                "measure": f"{experiment.warm_up} s",
                "sack": True,
            },
            "flow": [
                {
                    "label": "flow",
                    "to": 1,
                    "count": FLOWS,
                    "initial_window": 10,
                    "access": access,
                    "receiver": {"delayed_ack": True},
                }
            ],
        }
    )


def run(program: Path, experiment: Experiment, seed: int) -> dict[str, Any]:
    """What the experiment showed, with its failures in words."""
    start = time.monotonic()
    plan = lines.plan(network(experiment), command.built_policies(), seed)
    done = command.runner(jobs=1).all(program, [plan], lambda *_: None)[0]
    flows = done["flows"]
    said = {
        "failure": done["failure"],
        "segments": sum(flow["segments"] for flow in flows),
        "retransmissions": sum(flow["retransmissions"] for flow in flows),
        "queue_drops": sum(link["dropped"] for link in done["links"]),
        "bytes": [flow["received"] for flow in flows],
        "settings": lines.NS3,
    }
    seconds = time.monotonic() - start
    goodputs = [8 * flow["received"] / experiment.duration for flow in flows]
    index = jain(goodputs)
    failures = [said["failure"]] if said["failure"] else []
    if not failures and index < LEAST_INDEX:
        failures.append(f"Jain's index {index:.4f} is below {LEAST_INDEX}")
    figures = {
        "jain_index": round(index, 4),
        "goodput_bps": goodputs,
        "flows": FLOWS,
        "seed": seed,
        "failures": failures,
    }
    return asdict(experiment) | figures | {"core": said, "wall_clock": {"seconds": round(seconds, 1)}}


def table(results: Sequence[dict[str, Any]]) -> Table:
    wide = Table(title=f"{FLOWS} flows of one core", title_justify="left")
    wide.add_column("narrow at", no_wrap=True)
    for name in ("Jain", "kb/s least", "mean", "most", "sum, Mb/s", "resent", "wall, s"):
        wide.add_column(name, justify="right", no_wrap=True)
    for result in results:
        goodputs = result["goodput_bps"] or [0]
        wide.add_row(
            result["name"],
            f"{result['jain_index']:.4f}",
            *(f"{value / 1e3:.0f}" for value in (min(goodputs), sum(goodputs) / len(goodputs), max(goodputs))),
            f"{sum(goodputs) / 1e6:.1f}",
            str(result["core"].get("retransmissions", "-")),
            str(result["wall_clock"]["seconds"]),
        )
    return wide


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    console = report_console()
    program = build.shown(console, build.experiment) / "downbeat_experiment"
    results = []
    for experiment in EXPERIMENTS:
        with console.status(f"{FLOWS} flows, narrow at {experiment.name}"):
            results.append(run(program, experiment, seed))
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(results, indent=1) + "\n")
    console.print(table(results))
    for result in results:
        for failure in result["failures"]:
            print(
                f"Failed: {result['name']}: {failure}; again: make experiment NAME=fairness SEED={seed}",
                file=sys.stderr,
            )
    return 1 if any(result["failures"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
