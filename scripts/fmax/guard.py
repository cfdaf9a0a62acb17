# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fmax-guard`: fails when a guarded room (guarded.toml) is slower than it may be. What did not change is not run again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.fmax.report import ReportIncomplete, timing
from scripts.fmax.tools import ROOT, ToolFailed, elaborate, place_and_route, synthesise

GUARDED = Path(__file__).with_name("guarded.toml")
PRESET, GRADE, SEED = "default", "6", 1


def main() -> int:
    os.chdir(ROOT)
    least: dict[str, float] = tomllib.loads(GUARDED.read_text())["rooms"]
    try:
        verilog = [elaborate(room, PRESET) for room in least]  # one after another: they write into one directory
        with ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as jobs:
            reached = dict(zip(least, jobs.map(_clock, verilog), strict=True))
    except subprocess.CalledProcessError:
        return 1  # it has said why
    except (ToolFailed, ReportIncomplete) as failure:
        print(failure, file=sys.stderr)
        return 1
    for room, clock in reached.items():
        print(f"  {room}: {clock:.1f} MHz, at least {least[room]:g}")
    slow = [room for room, clock in reached.items() if clock < least[room]]
    for room in slow:
        print(
            f"{room} is too slow: `make fmax ROOM={room}` shows the path, scripts/fmax/guarded.toml has the limit",
            file=sys.stderr,
        )
    return 1 if slow else 0


def _clock(verilog: Path) -> float:
    report = place_and_route(synthesise(verilog), GRADE, SEED)
    return timing(json.loads((ROOT / report).read_text())).fmax_mhz


if __name__ == "__main__":
    sys.exit(main())
