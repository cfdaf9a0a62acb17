# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=astart`: Westwood's estimates on the free path of the thesis' table 4-1, and Astart beside
others.

Writes build/reports/astart.json. Fails if BWE on the free path is another than the filter's, or a window not its golden
model's.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from downbeat_toe.console import report_console
from rich.table import Table

from sim.experiments.astart.transfer import Network, Transfer, run
from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "astart.json"
THRESHOLD = 32  # segments
FREE = Network("free path", 50_000_000, 440, 1000)
FREE_SEGMENTS = 600
# The filter's answer there, when cwnd has reached 32: cocotb_tests/calculation/test_rate_estimate.py has it from the
# equation.
BWE = (978, 983)
NETWORKS = [
    Network("free", 20_000_000, 100, 250),
    Network("small buffer", 20_000_000, 100, 50),
    Network("one CBR", 20_000_000, 100, 250, 1),
    Network("three CBR", 20_000_000, 100, 250, 3),
]
POLICIES = [("standard", 0), ("hoe", 0), ("spm", 0), ("astart", 0), ("astart", 1), ("spmastart", 0)]
SEGMENTS = 2000


def rounds(transfer: Transfer) -> list[dict[str, float]]:
    """BWE, ERE and cwnd at the first and the last estimate of each round: a round begins behind a pause."""
    grouped: list[list[tuple[float, float, float, float]]] = []
    for estimate in transfer.estimates:
        if not grouped or estimate[0] - grouped[-1][-1][0] > FREE.round_trip_ms / 4000:
            grouped.append([])
        grouped[-1].append(estimate)
    return [
        {
            "cwnd": group[-1][3],
            "bwe_first": group[0][1],
            "bwe_last": group[-1][1],
            "ere_first": group[0][2],
            "ere_last": group[-1][2],
        }
        for group in grouped
    ]


def failures(transfers: list[Transfer], free: list[dict[str, float]]) -> list[str]:
    said = [f"{each.policy}, {each.network}, seed {each.seed}: {each.mismatch}" for each in transfers if each.mismatch]
    reached = next((row for row in free if row["cwnd"] >= THRESHOLD), None)
    if reached is None or not BWE[0] <= reached["bwe_first"] <= reached["bwe_last"] <= BWE[1]:
        said.append(f"free path: BWE is {reached} when cwnd has reached {THRESHOLD}, not {BWE[0]} to {BWE[1]} segments")
    return said


def main() -> int:
    seed, jobs = int(os.environ.get("SEED") or 1), int(os.environ.get("JOBS") or 2)
    runs = int(os.environ.get("RUNS") or 3)
    try:
        program = build.ns3(tap="header") / "downbeat_sim"
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as work:

        def one(wanted: tuple[Network, str, int, int]) -> Transfer:
            network, policy, argument, number = wanted
            place = Path(work) / f"{policy}-{argument}-{network.name}-{number}"
            free = network is FREE
            segments = FREE_SEGMENTS if free else SEGMENTS
            return run(program, place, network, policy, argument, number, segments, window=1 if free else 2)

        seeds = range(seed * 1000, seed * 1000 + runs)
        wanted = [(FREE, "astart", 1, seed), (FREE, "astart", 0, seed)]
        wanted += [(net, *policy, number) for net in NETWORKS for policy in POLICIES for number in seeds]
        with ThreadPoolExecutor(jobs) as pool:
            transfers = list(pool.map(one, wanted))
    free = {name: rounds(transfer) for name, transfer in zip(("bwe", "ere"), transfers, strict=False)}
    said = failures(transfers, free["bwe"])
    report = {
        "passed": not said,
        "failures": said,
        "events_compared": sum(each.events for each in transfers),
        "free_path": free,
        "transfers": [{**asdict(each), "estimates": len(each.estimates)} for each in transfers[2:]],
    }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n")
    _print(free, transfers[2:])
    for failure in said:
        print(f"WRONG: {failure}")
    print(f"{report['events_compared']:,} events compared; {REPORT.relative_to(build.ROOT)}")
    return 1 if said else 0


def _print(free: dict[str, list[dict[str, float]]], transfers: list[Transfer]) -> None:
    for name, its in free.items():
        table = Table(title=f"Free path, Astart-{name.upper()}: first and last ACK of each round", title_justify="left")
        for title in ("cwnd", "BWE", "ERE"):
            table.add_column(title, justify="right")
        for row in its:
            cells = (f"{row[f'{each}_first']:.1f} {row[f'{each}_last']:.1f}" for each in ("bwe", "ere"))
            table.add_row(f"{row['cwnd']:.1f}", *cells)
        report_console().print(table)
    table = Table(title=f"s for {SEGMENTS} segments, medians; segments sent again", title_justify="left")
    table.add_column("")
    for network in NETWORKS:
        table.add_column(network.name, justify="right")
    for policy in dict.fromkeys(each.policy for each in transfers):
        table.add_row(policy, *(_cell(policy, network, transfers) for network in NETWORKS))
    report_console().print(table)


def _cell(policy: str, network: Network, transfers: list[Transfer]) -> str:
    its: list[Any] = [each for each in transfers if (each.policy, each.network) == (policy, network.name)]
    seconds, again = (statistics.median(getattr(each, name) for each in its) for name in ("seconds", "retransmissions"))
    return f"{seconds:.2f}; {again:.0f}"


if __name__ == "__main__":
    sys.exit(main())
