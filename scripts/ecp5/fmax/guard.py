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
# Tables of the file: preset and speed grade.
BUILDS = {"modules": ("default", "6"), "ten": ("ten", "8")}
SEED = 1
Guarded = tuple[str, str, str]  # module, preset, speed grade


def main() -> int:
    os.chdir(ROOT)
    minimum: dict[Guarded, float] = {
        (module, *BUILDS[table]): mhz
        for table, modules in tomllib.loads(GUARDED.read_text()).items()
        for module, mhz in modules.items()
    }
    try:
        # One after another: they write into one directory.
        verilog = [(elaborate(module, preset), grade) for module, preset, grade in minimum]
        with ThreadPoolExecutor(int(os.environ.get("JOBS") or 2)) as jobs:
            reached = dict(zip(minimum, jobs.map(_clock, verilog), strict=True))
    except subprocess.CalledProcessError:
        return 1  # it has said why
    except (ToolFailed, ReportIncomplete) as failure:
        print(failure, file=sys.stderr)
        return 1
    for guarded, clock in reached.items():
        module, preset, grade = guarded
        print(f"  {module} ({preset}, grade {grade}): {clock:.1f} MHz, at least {minimum[guarded]:g}")
    slow = [guarded for guarded, clock in reached.items() if clock < minimum[guarded]]
    for module, preset, grade in slow:
        print(
            f"{module} is too slow: `make fmax MODULE={module} PRESET={preset} GRADE={grade}` shows the path, "
            "scripts/ecp5/fmax/guarded.toml has the limit",
            file=sys.stderr,
        )
    return 1 if slow else 0


def _clock(made: tuple[Path, str]) -> float:
    verilog, grade = made
    report = place_and_route(synthesise(verilog), grade, SEED)
    return timing(json.loads((ROOT / report).read_text())).fmax_mhz


if __name__ == "__main__":
    sys.exit(main())
