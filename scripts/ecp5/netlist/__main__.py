# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=netlist`: the core of preset `board`, mapped to an ECP5 by Yosys, passes the system test;
build/reports/netlist.json.

The report has the seconds of each step (a netlist that is kept takes none), the cells, how many cases there are, and
how many of them ran (with CASE not all), passed and failed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from xml.etree import ElementTree as Xml

from cocotb_tests.bench.build import BuildFailed, build_module
from scripts.check.__main__ import REPORT as JUNIT
from scripts.check.__main__ import main as check
from scripts.ecp5.fmax.report import size
from scripts.ecp5.fmax.tools import ROOT, ToolFailed, synthesise
from scripts.ecp5.netlist.gates import VERILATOR, seed, simulated
from scripts.ecp5.netlist.system import CORE, PRESET, RTL, cases

REPORT = ROOT / "build" / "reports" / "netlist.json"
TESTS = "scripts/ecp5/netlist/system.py"


def main() -> int:
    os.chdir(ROOT)
    seconds: dict[str, float] = {}

    def done(step: str, begun: float) -> float:
        now = time.monotonic()
        seconds[step] = round(now - begun, 1)
        return now

    try:
        at = time.monotonic()
        netlist = synthesise((RTL / f"{CORE}.v").relative_to(ROOT))
        at = done("Yosys", at)
        files = simulated((RTL / f"{CORE}.v").relative_to(ROOT), seed())
        at = done("Verilog", at)
        build_module(CORE, files, VERILATOR, {}, waves=os.environ.get("WAVES") == "1")
        at = done("Verilator and C++", at)
    except (ToolFailed, BuildFailed) as failure:
        print(failure, file=sys.stderr)
        return 1
    status = check([TESTS], target="bench NAME=netlist")
    done("simulation", at)
    passed = [case.find("failure") is None for case in Xml.parse(ROOT / JUNIT).iter("testcase")]
    report = {
        "preset": PRESET,
        "cells": size(json.loads((ROOT / netlist).read_text()), within=""),
        "cases": cases(),
        "ran": len(passed),
        "passed": sum(passed),
        "failed": len(passed) - sum(passed),
        "wall_clock": {"seconds": seconds},
    }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    print(", ".join(f"{step} {taken:.0f} s" for step, taken in seconds.items()) + f"; {REPORT.relative_to(ROOT)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
