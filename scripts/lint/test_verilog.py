# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The generated Verilog: Verilator's warnings and Yosys's checks.

Verilator reads the tops, which hold every module, and Yosys the boards, which hold the core and its MAC. `make soak`
has both read each module by itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cocotb_tests.bench import draws
from scripts.lint.tools import ROOT, VERILOG, modules, passes

WAIVERS = Path("scripts/lint/waivers.vlt")
BOARDS = ("ProbeBoard", "TrafficBoard")
# DownbeatGmii is in TrafficBoard, and what DownbeatAxi has in DownbeatHost: `make soak` has all modules.
TOPS = (*BOARDS, "DownbeatHost", "FlowEngineWide", "HeaderTap", "XgmiiMac")
PRIMITIVES = ("IDDRX1F", "ODDRX1F", "DELAYG")  # primitives of the ECP5


@pytest.mark.parametrize("module", [name for name in modules() if name in TOPS or draws(0, 1)])
def test_verilator(module: str) -> None:
    passes("verilator", "--lint-only", "-Wall", "--top-module", module, WAIVERS, VERILOG / f"{module}.v")


@pytest.mark.parametrize("module", [name for name in modules() if name in BOARDS or draws(0, 1)])
def test_yosys(module: str) -> None:
    verilog = VERILOG / f"{module}.v"
    uses_primitives = any(name in verilog.read_text() for name in PRIMITIVES)
    library = "read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v; " if uses_primitives else ""
    reads = f"{library}read_verilog {verilog.relative_to(ROOT)}"
    passes("yosys", "-q", "-p", f"{reads}; hierarchy -check -top {module}; proc; opt_clean; check -assert")
