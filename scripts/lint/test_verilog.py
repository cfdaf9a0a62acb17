# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The generated Verilog: Verilator's warnings, and what Yosys makes of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, VERILOG, modules, passes

WAIVERS = Path("scripts/lint/waivers.vlt")
# Yosys in WebAssembly takes a second to start: a text that passed once is not read again.
READ = ROOT / "build" / "lint" / "yosys"


@pytest.mark.parametrize("module", modules())
def test_verilator(module: str) -> None:
    passes("verilator", "--lint-only", "-Wall", "--top-module", module, WAIVERS, VERILOG / f"{module}.v")


def _primitives(verilog: Path) -> str:
    """Of the ECP5, for a module that has some."""
    names = ("IDDRX1F", "ODDRX1F", "DELAYG")
    return (
        "read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v; "
        if any(name in verilog.read_text() for name in names)
        else ""
    )


@pytest.mark.parametrize("module", modules())
def test_yosys(module: str) -> None:
    verilog = VERILOG / f"{module}.v"
    reads = f"{_primitives(verilog)}read_verilog {verilog.relative_to(ROOT)}"
    script = f"{reads}; hierarchy -check -top {module}; proc; opt_clean; check -assert"
    mark = READ / hashlib.sha256(f"{script}\n{verilog.read_text()}".encode()).hexdigest()[:16]
    if mark.exists():
        return
    passes("yosys", "-q", "-p", script)
    READ.mkdir(parents=True, exist_ok=True)
    mark.touch()
