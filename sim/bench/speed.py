# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=speed`: how many full segments a second the core alone simulates, by the frame tap at each width
of its beats and by the header tap in turn.

build/reports/bench.json. The runs take turns, so that a machine that others use too treats them alike.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sim.lib import build, verilated

REPORT = build.ROOT / "build" / "reports" / "bench.json"


ROUNDS = 3
# Bytes of a beat, link rates in b/s, and connections. A connection at 8 Gb/s fills the frame stream of eight bytes.
# Wider ones have a link as fast as their stream. The header tap's clocks count no beats: one connection is then bound
# by its way from grant to grant, eight keep the engine busy.
GIGABIT = 10**9
RUNS = (
    *(("frame", width, width * GIGABIT, 1) for width in (8, 16, 32, 64)),
    ("header", 8, 8 * GIGABIT, 1),
    ("header", 8, 100 * GIGABIT, 1),
    ("header", 8, 100 * GIGABIT, 8),
)
# Runs of a line: its rate in Gb/s and the clock in MHz of a MAC that takes beats of that width. A tap's clock is
# `TAP_MHZ`, so its link is slower by as much.
TAP_MHZ = 125
LINES = {
    ("frame", width, round(gigabits * GIGABIT * TAP_MHZ / clock), connections): (gigabits, clock)
    for gigabits, width, clock in ((25, 16, 390.625), (100, 64, 322.265625))
    for connections in (1, 16)
}
WIRE_BYTES = 1538  # a full segment with preamble, FCS and gap
MEDIANS = ("segments_per_wall_second", "segments_per_cpu_second", "clocks_per_wall_second", "clocks_per_segment")


def main() -> int:
    wanted = os.environ.get("TAP") or ""
    runs = [run for run in (*RUNS, *LINES) if wanted in ("", run[0])]
    if not runs:
        print(
            f"TAP={wanted}: no such tap, use {' or '.join(verilated.TAPS)}, or leave it out for both", file=sys.stderr
        )
        return 2
    seconds = float(os.environ.get("DURATION") or 5) / ROUNDS
    try:
        programs = {(tap, width): build.bench(tap, verilated.wide(width)) / "bench_core" for tap, width, _, _ in runs}
        rounds = [
            [
                measure(programs[tap, width], seconds, rate, number) | {"beat_bytes": width}
                for tap, width, rate, number in runs
            ]
            for _ in range(ROUNDS)
        ]
    except (build.BuildFailed, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    figures = [median(same) for same in zip(*rounds, strict=True)]
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    measured = dict(zip(runs, figures, strict=True))
    alone = [each for run, each in measured.items() if run in RUNS]
    lines = [line_share(*LINES[run], each) for run, each in measured.items() if run in LINES]
    REPORT.write_text(json.dumps({"runs": alone, "lines": lines}, indent=2) + "\n")
    print(
        "tap     beat/bytes  link/Gb/s  connections  segments/s of wall  of processor  clocks/segment  clocks/s of wall"
    )
    for run in alone:
        print(
            f"{run['tap']:8}{run['beat_bytes']:10}"
            f"{run['link_rate'] / 1e9:11.0f}{run['connections']:13}{run['segments_per_wall_second']:20}"
            f"{run['segments_per_cpu_second']:14}{run['clocks_per_segment']:16}{run['clocks_per_wall_second']:18}"
        )
    for line in lines:
        print(
            f"{line['line_gbps']} Gb/s, {line['beat_bytes']} bytes at {line['clock_mhz']:.1f} MHz, "
            f"{line['connections']} connections: {line['share']:.1%} of the line's full segments"
        )
    print(f"full segments, medians of {ROUNDS} rounds; {REPORT.relative_to(build.ROOT)}")
    return 0


def line_share(gigabits: float, clock: float, run: dict[str, Any]) -> dict[str, Any]:
    """The share of the line's full segments that leave in a run; `clock`: the MAC's, MHz."""
    full = WIRE_BYTES * 8 * clock / (1000 * gigabits)  # clocks a segment
    kept = {name: run[name] for name in ("beat_bytes", "connections")}
    return {"line_gbps": gigabits, "clock_mhz": clock, "share": round(full / run["clocks_per_segment"], 4)} | kept


def measure(program: Path, seconds: float, rate: int, connections: int) -> dict[str, Any]:
    command = [str(program), str(seconds), str(rate), str(connections)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def median(same: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One result of several runs of the same: the first one's facts, the medians of the measurements."""
    return same[0] | {name: statistics.median(run[name] for run in same) for name in MEDIANS}


if __name__ == "__main__":
    sys.exit(main())
