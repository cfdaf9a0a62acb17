# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The generated Verilog: Verilator's warnings, and what Yosys makes of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, VERILOG, passes, rooms

WAIVERS = Path("scripts/lint/waivers.vlt")
# Yosys in WebAssembly takes a second to start: a text that passed once is not read again.
READ = ROOT / "build" / "lint" / "yosys"


@pytest.mark.parametrize("room", rooms())
def test_verilator(room: str) -> None:
    passes("verilator", "--lint-only", "-Wall", "--top-module", room, WAIVERS, VERILOG / f"{room}.v")


def _primitives(verilog: Path) -> str:
    """Of the ECP5, for a room that has some."""
    names = ("IDDRX1F", "ODDRX1F", "DELAYG")
    return (
        "read_verilog -lib +/ecp5/cells_sim.v +/ecp5/cells_bb.v; "
        if any(name in verilog.read_text() for name in names)
        else ""
    )


@pytest.mark.parametrize("room", rooms())
def test_yosys(room: str) -> None:
    verilog = VERILOG / f"{room}.v"
    reads = f"{_primitives(verilog)}read_verilog {verilog.relative_to(ROOT)}"
    script = f"{reads}; hierarchy -check -top {room}; proc; opt_clean; check -assert"
    mark = READ / hashlib.sha256(f"{script}\n{verilog.read_text()}".encode()).hexdigest()[:16]
    if mark.exists():
        return
    passes("yosys", "-q", "-p", script)
    READ.mkdir(parents=True, exist_ok=True)
    mark.touch()
