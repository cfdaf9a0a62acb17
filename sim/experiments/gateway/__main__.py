# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=gateway`: two hosts with a core each, one path over ns-3. The first host's connection learns
the path; then the second host opens its first. build/reports/experiments/gateway.json.

It must start as if its own host had known the path, by SPAND, LISS and Careful Resume, over one gateway and over two
with Redis. Careful Resume's parameters are compared as they are given: the transfer starts as it does without them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from downbeat_toe.refused import Refused
from rich.table import Table

from sim.experiments.engine.plan import lines
from sim.experiments.engine.runs.program import built_policies
from sim.experiments.engine.schema.experiment import Experiment
from sim.experiments.gateway.sharing import ALONE, OWN, sites, ways
from sim.lib import build
from sim.lib.verilated import PRESET

REPORT = build.ROOT / "build" / "reports" / "experiments" / "gateway.json"
# The value of the start that each method gives, in segments, and how far it may be from the own host's: the gateway has
# the first host's last report, up to a round trip old, and gets its request 20 ms before the connection opens.
METHODS = {"spand": "window", "liss": "ssthresh", "resume": "jump"}
# SPAND: a gateway takes the mean of the reports' segments per ACK, a host all segments by all ACKs.
TOLERANCE = {"spand": 2.0, "liss": 1.0, "resume": 1.0}
ALIKE = 0.05  # share of the completion times
MIN_GAIN = 1.2  # gain of SPAND over nothing known, or the path shows nothing


def network(method: str) -> Experiment:
    """A dumbbell of 10 Mb/s and 22 ms. `resume`: no policy of the core takes it, so a plan says it in place of
    SPAND."""
    return Experiment.model_validate(
        {
            "name": "gateway",
            "title": "Two hosts of a site",
            "source": "none",
            "topology": {
                "kind": "dumbbell",
                "link": {"rate": "10 Mb/s", "delay": "10 ms", "queue": {"size": "25 packets"}},
                "access": {"rate": "1 Gb/s", "delay": "500 us"},
            },
            "run": {"duration": "5500 ms", "preset": PRESET},
            "flow": [
                {"label": "first", "to": 1, "initial_window": 10, "observed": True, "lifetime": "5 s"},
                {
                    "label": "second",
                    "to": 1,
                    "initial_window": 1,
                    "estimate": "spand" if method == "resume" else method,
                    "start": "4990 ms",
                    "transfer": "30 packets",
                },
            ],
        }
    )


def run(program: Path, method: str, way: str, seed: int) -> dict[str, Any]:
    """The start of the second host's connection, and its completion time."""
    text = lines.plan(network(method), built_policies(PRESET), seed)
    other = "label=second core=1 source=1 host=1 "
    if other not in text:
        raise Refused(f"the plan has no line with {other}")
    text = text.replace(other, other.replace("host=1", "host=0"))  # one path: to the first host's receiver
    if method == "resume":
        text = text.replace(" estimate=spand ", " estimate=resume ")
    with sites(way) as site_lines:
        plan = "\n".join([text, *site_lines, ""])
        done = subprocess.run([str(program)], input=plan, text=True, capture_output=True, check=False)
    if done.returncode:
        raise Refused(f"{way}: {done.stderr.strip()[-500:]}")
    flow: dict[str, Any] = next(each for each in json.loads(done.stdout)["flows"] if each["label"] == "second")
    if not flow["done"]:
        raise Refused(f"{way}: the second host's transfer has not ended")
    row = {"told": flow["start_reason"], **{f"told_{name}": flow[f"start_{name}"] for name in METHODS.values()}}
    return {"method": method, "sharing": way, **row, "completion_s": flow["done"][0] - flow["established"]}


def judge(rows: list[dict[str, Any]]) -> list[str]:
    """Differences to a host that knows the path itself."""
    failures = []
    for method, name in METHODS.items():
        field = f"told_{name}"
        by = {row["sharing"]: row for row in rows if row["method"] == method}
        own, alone = by.pop(OWN), by.pop(ALONE)
        if not own[field] or alone[field]:
            failures.append(f"{method}: one host gives {own[field]:g} and nothing known {alone[field]:g} segments")
        for way, row in by.items():
            if abs(row[field] - own[field]) > TOLERANCE[method]:
                failures.append(f"{method}, {way}: {row[field]:.4g} segments, one host's {own[field]:.4g}")
            if abs(row["completion_s"] / own["completion_s"] - 1) > ALIKE:
                failures.append(f"{method}, {way}: {row['completion_s']:.4f} s, one host's {own['completion_s']:.4f} s")
        if method == "spand" and alone["completion_s"] < MIN_GAIN * own["completion_s"]:
            failures.append(f"{method}: nothing known takes {alone['completion_s']:.3f} s, as long as known")
    return failures


def show(rows: list[dict[str, Any]]) -> None:
    table = Table("method", "the hosts share by", "window", "ssthresh", "jump", "30 packets/s", "because")
    for row in rows:
        numbers = (f"{row[f'told_{name}']:.1f}" if row[f"told_{name}"] else "" for name in METHODS.values())
        table.add_row(row["method"], row["sharing"], *numbers, f"{row['completion_s']:.3f}", row["told"])
    report_console().print(table)


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    script = build.ROOT / "scripts" / "gateway.sh"
    built = subprocess.run([script, "tests"], text=True, capture_output=True, check=False)
    if built.returncode:
        print(built.stderr.strip()[-3000:], file=sys.stderr)
        return 2
    try:
        program = build.experiment(PRESET) / "downbeat_experiment"
        rows = [run(program, method, way, seed) for method in METHODS for way in ways()]
    except (Refused, build.BuildFailed) as error:
        print(error, file=sys.stderr)
        return 2
    failures = judge(rows)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    report = {"seed": seed, "tolerance_segments": TOLERANCE, "passed": not failures, "failures": failures, "rows": rows}
    REPORT.write_text(json.dumps(report, indent=2) + "\n")
    show(rows)
    print(f"Report: {REPORT.relative_to(build.ROOT)}")
    for failure in failures:
        print(f"Failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
