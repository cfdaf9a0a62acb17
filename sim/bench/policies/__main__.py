# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make policies`: RTL against golden models; build/reports/policies.json and a table.

The environment: EVENTS (100000) for each policy either way, POLICY (one of them), SEED, AREA=1 (Yosys and nextpnr,
minutes for each). Prints the first counterexample of each policy. Fails on a difference, on a golden model that its own
test contradicts, and with 100,000 events or more on a situation that a policy was never in.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from downbeat_toe.console import report_console
from downbeat_toe.library import load
from downbeat_toe.policies import Policy, read
from rich.console import Console
from rich.table import Table

from sim.bench.policies import requests, situations
from sim.bench.policies.area import areas
from sim.bench.policies.record import Crowd
from sim.lib import build, verilated

REPORT = build.ROOT / "build" / "reports" / "policies.json"
FULL = 100_000
AREA = ("lut", "ff", "dsp", "fmax_mhz")


def main() -> int:
    wanted = int(os.environ.get("EVENTS") or FULL)
    seed = int(os.environ.get("SEED") or 1)
    one = os.environ.get("POLICY", "")
    console = report_console()
    chosen = _chosen(one)
    if not chosen:
        print(f"POLICY={one}: no such policy in this build", file=sys.stderr)
        return 2
    try:
        rows = [_requests(console, policy, wanted, seed) for policy in chosen]
        kinds = {} if one else _recorded(console, rows, wanted, seed)
    except (build.BuildFailed, requests.BenchFailed) as error:
        print(error, file=sys.stderr)
        return 1
    sizes = areas([row["name"] for row in rows]) if os.environ.get("AREA") == "1" else {}
    for row in rows:
        row |= sizes.get(row["name"], dict.fromkeys(AREA))
    console.print(_table(rows, seed))
    if not one:
        console.print(_situations(rows))
    failures = [row.pop("said") for row in rows]
    if not one:  # one alone is for its author, not for the record
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(json.dumps(rows, indent=1) + "\n")
        console.print(f"kinds of recorded events: {', '.join(f'{kind} {count}' for kind, count in kinds.items())}")
        console.print(f"{REPORT.relative_to(build.ROOT)}")
    for said in filter(None, failures):
        print(said, file=sys.stderr)
    return 1 if any(row["mismatches"] for row in rows) or any(failures) else 0


def _chosen(name: str) -> list[Policy]:
    layout = build.ROOT / "build" / "rtl" / "downbeat_layout.json"
    everything = [policy for policies in read(layout).values() for policy in policies.values()]
    return [policy for policy in everything if name in ("", policy.name)]


def _requests(console: Console, policy: Policy, wanted: int, seed: int) -> dict[str, Any]:
    with console.status(f"{policy.name}: {wanted:,} requests"):
        figures = requests.compare(policy.family, policy.name, wanted, seed)
        error = requests.float_error(policy.family, policy.name, seed)
        tests, contradicts = requests.paper(policy.family, policy.name)
    said = "\n".join(filter(None, (figures["said"], contradicts)))
    return {
        "name": policy.name,
        "kind": policy.family,
        "events": figures["requests"],
        "recorded_events": None,
        "mismatches": figures["mismatches"],
        "float_error_max": error,
        "state_bits": requests.state_bits(policy.family, policy.name),
        "latency_clocks": figures["latency_clocks"],
        "paper_tests": 0 if contradicts else tests,
        "said": said,
    }


def _recorded(console: Console, rows: list[dict[str, Any]], wanted: int, seed: int) -> dict[str, int]:
    """Adds what the engine's own events show; how many there were of each kind."""
    with console.status("Building the core (minutes, once for each content)"):
        library = load(verilated.library(tap="header") / "libdownbeat_sim.so")
    crowd = Crowd(library, read(verilated.rtl(verilated.PRESET) / "downbeat_layout.json"), seed)
    with console.status("the engine's events") as status:
        crowd.run(
            wanted, lambda fewest: status.update(f"the engine's events: {fewest:,} of {wanted:,} for each policy")
        )
    for row in rows:
        tally = crowd.judge.tallies[row["kind"], row["name"]]
        row["recorded_events"] = tally.events
        row["mismatches"] += tally.mismatches
        if tally.first:
            row["said"] += (
                f"{row['name']}: {tally.mismatches:,} recorded events differ. The first, by SEED={seed}:\n{tally.first}"
            )
        key = row["kind"], row["name"]
        names, counts = situations.wanted(calculates=requests.calculates(*key)), crowd.judge.situations.counts[key]
        row["situations"] = {name: counts[name] for name in names}
        # A shorter draw may lack some.
        never = [name for name, count in row["situations"].items() if count == 0 and wanted >= FULL]
        row["said"] += f"{row['name']}: never was there a {', nor a '.join(never)}" if never else ""
    return dict(crowd.judge.kinds)


def _table(rows: list[dict[str, Any]], seed: int) -> Table:
    table = Table(title=f"policies against their golden models, seed {seed}", title_justify="left")
    heads = {
        "name": "",
        "kind": "",
        "paper_tests": "paper",
        "events": "events",
        "recorded_events": "recorded",
        "mismatches": "differ",
    }
    heads |= {"float_error_max": "from the\nequation", "state_bits": "state\nbits", "latency_clocks": "clocks"}
    heads |= {"lut": "LUT", "ff": "FF", "dsp": "MULT18", "fmax_mhz": "MHz (ECP5-6)"}
    shown = {key: head for key, head in heads.items() if any(row[key] is not None for row in rows)}
    for key, head in shown.items():
        table.add_column(head, justify="left" if key in ("name", "kind") else "right")
    for row in rows:
        table.add_row(*(_text(key, row[key]) for key in shown))
    return table


def _situations(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="what the recorded connections went through", title_justify="left", padding=0)
    table.add_column("", no_wrap=True)
    names = situations.wanted(calculates=True)
    for name in names:
        table.add_column(name, justify="right", vertical="bottom", overflow="fold")
    for row in rows:
        table.add_row(row["name"], *(_text(name, row["situations"].get(name)) for name in names))
    return table


def _text(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key == "paper_tests":
        return f"{value} tests" if value else "FAILED"
    if key == "float_error_max":
        return "exact" if value == 0 else f"{value:.1e}"
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    sys.exit(main())
