# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=ten`: launches, stamps, gaps and line rate at the MAC's XGMII pins, full segments and ACKs through
the core behind it; build/reports/ten.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "ten.json"
FRAMES = 1_000_000
PERIOD_PS = 6400
# Lengths with FCS, first to last in turn, and frames each way; the core's clock is the wire's.
FLOWS, MICROSECONDS = (1, 16, 64), 100
# Whether the core sends, and the share of the wire that the peers offer: each way alone, then both. The payload memory
# carries half of the wire each way at once.
TRAFFIC = ((1, 0), (0, 1), (1, 0.45))
ACKS = 100_000
LINES = ((64, 64, 200_000), (64, 127, 100_000), (64, 1518, 14_550), (1518, 1518, 10_000))


def main() -> int:
    try:
        mac, core = build.ten() / "ten_bench", build.ten_core() / "ten_core_bench"
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    seed = os.environ.get("SEED") or "1"

    def run(command: tuple[object, ...]) -> dict[str, Any]:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
        print(done.stdout or done.stderr, end="", flush=True)
        figures: dict[str, Any] = json.loads(done.stdout or "{}")
        return figures

    cases: list[tuple[object, ...]] = [(mac, "launches", FRAMES, seed)]
    cases += [(mac, "line", *line, PERIOD_PS) for line in LINES]
    cases += [(core, flows, "segments", *traffic, MICROSECONDS) for flows in FLOWS for traffic in TRAFFIC]
    cases += [(core, FLOWS[1], "acks", ACKS)]
    with ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as pool:
        launches, *others = list(pool.map(run, cases))
    lines, shares, acks = others[: len(LINES)], others[len(LINES) : -1], others[-1]
    right = all(figures.get("right") for figures in (launches, *lines)) and acks.get("dropped") == 0
    report = {
        # The launches' figures are the report's own.
        **{name: launches.get(name) for name in ("frames", "early", "sfd_error_ns")},
        "launches": launches,
        "line_rate": lines,
        "line_rate_share": shares,
        **{name: acks.get(name) for name in ("acks_per_second", "dropped")},
        "right": right,
    }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n")
    print(f"{'all right' if right else 'WRONG'}; {REPORT.relative_to(build.ROOT)}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
