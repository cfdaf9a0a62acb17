# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=wire`: line rate both ways through MAC and parser, and 100,000 departures against the model;
build/reports/wire.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from sim.lib import build

REPORT = build.ROOT / "build" / "reports" / "wire.json"
# Bytes with FCS, frames, and the core's period in ps: 125 MHz, and 100 MHz.
LINE = ((64, 200_000, 8000), (64, 200_000, 10_000), (1518, 10_000, 8000), (1518, 10_000, 10_000))
GATE_FRAMES = 100_000


def main() -> int:
    try:
        program = build.wire() / "wire_bench"
    except build.BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    seed = os.environ.get("SEED") or "1"

    def run(*arguments: object) -> dict[str, object]:
        done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, end="", flush=True)
        figures: dict[str, object] = json.loads(done.stdout)
        return figures

    figures = {"line_rate": [run("line", *line) for line in LINE], "launch_gate": [run("gate", GATE_FRAMES, seed)]}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(figures, indent=2) + "\n")
    right = all(run["right"] for runs in figures.values() for run in runs)
    print(f"{'all right' if right else 'WRONG'}; {REPORT.relative_to(build.ROOT)}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
