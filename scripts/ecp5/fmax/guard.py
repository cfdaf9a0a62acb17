# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fmax GUARD=1`: fails when a guarded module (guarded.toml) is slower than it may be. What did not change is
not run again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.ecp5.fmax.report import ReportIncomplete, timing
from scripts.ecp5.fmax.tools import ROOT, ToolFailed, elaborate, place_and_route, synthesise

GUARDED = Path(__file__).with_name("guarded.toml")
PRESET, GRADE, SEED = "default", "6", 1


def main() -> int:
    os.chdir(ROOT)
    minimum: dict[str, float] = tomllib.loads(GUARDED.read_text())["modules"]
    try:
        verilog = [elaborate(module, PRESET) for module in minimum]  # one after another: they write into one directory
        with ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as jobs:
            reached = dict(zip(minimum, jobs.map(_clock, verilog), strict=True))
    except subprocess.CalledProcessError:
        return 1  # it has said why
    except (ToolFailed, ReportIncomplete) as failure:
        print(failure, file=sys.stderr)
        return 1
    for module, clock in reached.items():
        print(f"  {module}: {clock:.1f} MHz, at least {minimum[module]:g}")
    slow = [module for module, clock in reached.items() if clock < minimum[module]]
    for module in slow:
        print(
            f"{module} is too slow: `make fmax MODULE={module}` shows the path, scripts/ecp5/fmax/guarded.toml has the limit",
            file=sys.stderr,
        )
    return 1 if slow else 0


def _clock(verilog: Path) -> float:
    report = place_and_route(synthesise(verilog), GRADE, SEED)
    return timing(json.loads((ROOT / report).read_text())).fmax_mhz


if __name__ == "__main__":
    sys.exit(main())
