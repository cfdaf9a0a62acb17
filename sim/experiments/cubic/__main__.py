# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sends the same bytes by the core's CUBIC and by ns-3's TcpCubic and holds their windows beside each other."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from downbeat_toe import policies
from downbeat_toe.console import report_console
from downbeat_toe.quantities import size
from rich.table import Table

from sim.experiments.cubic.windows import core_steps, mean_of_cycles, ns3_steps
from sim.lib import build, verilated
from sim.ns3 import golden, network, settings

REPORT = build.ROOT / "build" / "reports" / "cubic.json"
WORK = build.ROOT / "build" / "sim" / "cubic-run"
TOLERANCE = 0.10
# What the seed draws: which packets are lost besides those of the full queue, so many for a file on average (each moves
# a mean of few cycles by a tenth), and the phases of sources that each take this part of the bottleneck.
LOSSES = 0.1
SOURCES, CROSS_SHARE = 2, 200


@dataclass(frozen=True)
class Line:
    """A bottleneck with one bandwidth-delay product of buffer, how much is sent over it, and where slow start ends.

    With SACK: without it several losses of one window decide the means and not CUBIC. ns-3 then cuts its window again
    for each old segment that is acknowledged twice, down to two segments; the core repairs a segment in a round trip,
    until its timer ends that.
    """

    name: str
    rate: str
    rtt: str
    size: str
    ssthresh: str


# What grows the window differs: W_est, either, W_cubic, W_cubic with few round trips in an epoch.
PATHS = (
    Line("Reno-friendly", "10Mbps", "20ms", "20MB", "25kB"),
    Line("both", "20Mbps", "40ms", "60MB", "100kB"),
    Line("cubic", "10Mbps", "100ms", "40MB", "125kB"),
    Line("long", "5Mbps", "200ms", "30MB", "125kB"),
)


def wanted(path: Line, seed: int) -> settings.Settings:
    asked = settings.parse(
        file="",
        size_text=path.size,
        rate_text=path.rate,
        rtt_text=path.rtt,
        buffer_text="1BDP",
        loss_text=f"{settings.SEGMENT_BYTES * LOSSES / size(path.size):.9f}",
        ssthresh_text=path.ssthresh,
        initial_window=10,
        startup="",
        steady="cubic",
        startup_argument="",
        steady_argument="",
        policies=policies.read(verilated.LAYOUT.with_suffix(".json")),
        seed=seed,
        waves=False,
        wall_limit=3000,
        tap="header",
    )
    return replace(asked, sack=True, cross=SOURCES, cross_rate=asked.rate // CROSS_SHARE)


def compare(program: Path, path: Line, seed: int) -> dict[str, Any]:
    """Mean windows over whole cycles; the core's every window against the golden models."""
    asked = wanted(path, seed)
    work = WORK / str(os.getpid())
    work.mkdir(parents=True, exist_ok=True)
    try:
        file = work / "file.bin"
        file.write_bytes(bytes(asked.size))  # the header tap counts bytes
        start = time.monotonic()
        core, cubic = (
            network.run(program, sender, asked, file, work / sender, None, None, lambda *_: None)
            for sender in ("core", "cubic")
        )
        replayed = golden.compare(core.events)
        cycles = {"core": mean_of_cycles(core_steps(core.events)), "ns3": mean_of_cycles(ns3_steps(cubic.events))}
    finally:
        shutil.rmtree(work, ignore_errors=True)
    failures = [transfer.result["failure"] for transfer in (core, cubic) if transfer.result["failure"]]
    if replayed.mismatch:
        failures.append(f"golden model: {replayed.mismatch}")
    means = {name: bytes_ / settings.SEGMENT_BYTES for name, (bytes_, _) in cycles.items()}
    ratio = means["core"] / means["ns3"]
    return {
        "name": path.name,
        "rate": path.rate,
        "rtt": path.rtt,
        "size": path.size,
        "mean_window_segments": means,
        "cycles": {name: count for name, (_, count) in cycles.items()},
        "ratio": ratio,
        "within": abs(ratio - 1) <= TOLERANCE,
        "finish_seconds": {"core": core.result["finish_time_ns"] / 1e9, "ns3": cubic.result["finish_time_ns"] / 1e9},
        "drops": {"core": core.result["queue_drops"], "ns3": cubic.result["queue_drops"]},
        "golden_events": replayed.events,
        "failures": failures,
        "wall_clock": {"seconds": round(time.monotonic() - start, 1)},
    }


def table(results: Sequence[dict[str, Any]]) -> Table:
    wide = Table(title="CUBIC: the core and ns-3's TcpCubic", title_justify="left")
    wide.add_column("path", no_wrap=True)
    for name in ("rate", "RTT", "core, segments", "ns-3", "ratio", "within 10 %", "windows = golden"):
        wide.add_column(name, justify="right", no_wrap=True)
    for result in results:
        means = result["mean_window_segments"]
        wide.add_row(
            result["name"],
            result["rate"],
            result["rtt"],
            *(f"{means[name]:.1f}" for name in ("core", "ns3")),
            f"{result['ratio']:.3f}",
            "yes" if result["within"] else "no",
            str(result["golden_events"]),
        )
    return wide


def main() -> int:
    seed = int(os.environ.get("SEED") or 1)
    console = report_console()
    program = build.shown(console, lambda: build.ns3(tap="header")) / "downbeat_sim"
    results = []
    for path in PATHS:
        with console.status(f"{path.name}: {path.size} at {path.rate}, {path.rtt}"):
            results.append(compare(program, path, seed))
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps({"seed": seed, "tolerance": TOLERANCE, "paths": results}, indent=1) + "\n")
    console.print(table(results))
    failures = [f"{result['name']}: {failure}" for result in results for failure in result["failures"]]
    failures += [f"{result['name']}: ratio {result['ratio']:.3f}" for result in results if not result["within"]]
    for failure in failures:
        print(f"Failed: {failure}; again: make experiment NAME=cubic SEED={seed}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
