# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench`: how many full segments a second of wall time the core alone simulates; build/reports/bench.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from sim import build

REPORT = build.ROOT / "build" / "reports" / "bench.json"


def main() -> int:
    try:
        program = build.bench() / "bench_core"
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    done = subprocess.run([program, os.environ.get("DURATION") or "5"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    figures = json.loads(done.stdout)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(figures, indent=2) + "\n")
    print(
        f"{figures['segments_per_wall_second']} full segments and {figures['clocks_per_wall_second']} clocks "
        f"per second of wall time, "
        f"{figures['segments_per_cpu_second']} segments per second of processor time; "
        f"{figures['clocks_per_segment']} clocks per segment. {REPORT.relative_to(build.ROOT)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
