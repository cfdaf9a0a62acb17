# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=ten`: launches, stamps, gaps and line rate at the XGMII pins; build/reports/ten.json."""

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
LINES = ((64, 64, 200_000), (64, 127, 100_000), (64, 1518, 14_550), (1518, 1518, 10_000))


def main() -> int:
    try:
        program = build.ten() / "ten_bench"
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    seed = os.environ.get("SEED") or "1"

    def run(arguments: tuple[object, ...]) -> dict[str, Any]:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
        print(done.stdout or done.stderr, end="", flush=True)
        figures: dict[str, Any] = json.loads(done.stdout or '{"right": false}')
        return figures

    cases = [("launches", FRAMES, seed), *(("line", *line, PERIOD_PS) for line in LINES)]
    with ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as pool:
        launches, *lines = list(pool.map(run, cases))
    right = all(figures["right"] for figures in (launches, *lines))
    report = {"launches": launches, "line_rate": lines, "right": right}
    # The launches' figures are the report's own.
    report |= {name: launches.get(name) for name in ("frames", "early", "sfd_error_ns")}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n")
    print(f"{'all right' if right else 'WRONG'}; {REPORT.relative_to(build.ROOT)}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
