# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fmax`: how fast a module is on an ECP5 (LFE5U-85F; grade 8_5G: LFE5UM5G-85F), and which path limits it.

For people on the terminal, for programs in build/reports/fmax.json (docs/how-to/synthesize.md).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from scripts.ecp5.fmax.report import ReportIncomplete, Timing, size, timing
from scripts.ecp5.fmax.tools import ROOT, TARGET_MHZ, ToolFailed, elaborate, place_and_route, synthesise

REPORT = ROOT / "build" / "reports" / "fmax.json"
GOAL_MHZ = {("FlowEngine", "default", "6"): 85.0}  # module, preset, speed grade


def main() -> int:
    arguments = _parse()
    os.chdir(ROOT)
    try:
        netlist = synthesise(elaborate(arguments.module, arguments.preset))
        report = place_and_route(netlist, arguments.grade, arguments.seed)
        found = timing(json.loads(report.read_text()))
    except subprocess.CalledProcessError:
        return 1  # it has said why
    except (ToolFailed, ReportIncomplete) as failure:
        print(failure, file=sys.stderr)
        return 1
    used = size(json.loads(netlist.read_text()))
    print(_text(arguments, found, used))
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(_record(arguments, found, used), indent=1) + "\n")
    goal = GOAL_MHZ.get((arguments.module, arguments.preset, arguments.grade))
    if goal and found.fmax_mhz < goal:
        print(f"{found.fmax_mhz:.2f} MHz is below the goal of {goal:.0f} MHz", file=sys.stderr)
        return 1
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fmax", description=__doc__)
    parser.add_argument("module")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--grade", choices=sorted(TARGET_MHZ), default="6")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _text(arguments: argparse.Namespace, found: Timing, used: dict[str, int]) -> str:
    lines = [
        f"{arguments.module} ({arguments.preset}), grade {arguments.grade}, seed {arguments.seed}: {found.fmax_mhz:.1f} MHz",
        "  " + ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in used.items()),
        f"  critical path: {found.ns:.2f} ns, of them {found.wire_ns:.2f} in wires",
        "       at    wire    cell",
    ]
    lines += [
        f"   {hop.at_ns:6.2f}  {hop.wire_ns:6.2f}  {hop.cell_ns:6.2f}  {hop.cell:8}  {hop.place:9}  {hop.net}"
        for hop in found.path
    ]
    return "\n".join(lines)


def _record(arguments: argparse.Namespace, found: Timing, used: dict[str, int]) -> dict[str, Any]:
    return {
        "room": arguments.module,
        "preset": arguments.preset,
        "device": "LFE5UM5G-85F" if arguments.grade.endswith("5G") else "LFE5U-85F",
        "grade": arguments.grade,
        "seed": arguments.seed,
        "fmax_mhz": found.fmax_mhz,
        **used,
        "critical_path_ns": round(found.ns, 3),
        "critical_path_wire_ns": round(found.wire_ns, 3),
        "critical_path": [{name: _rounded(value) for name, value in asdict(hop).items()} for hop in found.path],
    }


def _rounded(value: object) -> object:
    return round(value, 3) if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
