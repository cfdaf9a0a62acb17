# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The generated Verilog: Verilator's warnings, and what Yosys makes of it.

A module that stands in a whole core with the same ports is the same module of the same build: it is read there, not twice.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, VERILOG, modules, passes

WAIVERS = Path("scripts/lint/waivers.vlt")
CORES = ("DownbeatGmii", "DownbeatAxi")
NAMES = {"DownbeatExternalMemory": "Downbeat"}  # what a module is called inside a core, where that differs
# Yosys in WebAssembly takes a second to start: one process reads many modules, and a text that passed once is not read again.
READ = ROOT / "build" / "lint" / "yosys"
BATCHES = 6


def ports(text: str, module: str) -> str:
    """A module's list of ports; empty where the text has no such module."""
    found = text.partition(f"\nmodule {module} (\n")[2]
    return found.partition("\n);\n")[0]


@functools.cache
def outermost() -> list[str]:
    """The modules without those that are read inside a core."""
    found = modules()
    cores = [(VERILOG / f"{core}.v").read_text() for core in CORES if core in found]
    chosen = []
    for module in found:
        own = ports((VERILOG / f"{module}.v").read_text(), module)
        inside = any(own and own == ports(core, NAMES.get(module, module)) for core in cores)
        if module in CORES or not inside:
            chosen.append(module)
    return chosen


@functools.cache
def batches() -> list[list[str]]:
    """The modules in lists of about the same length of text."""
    lists: list[list[str]] = [[] for _ in range(BATCHES)]
    sizes = [0] * BATCHES
    for size, module in sorted(((VERILOG / f"{module}.v").stat().st_size, module) for module in outermost())[::-1]:
        least = sizes.index(min(sizes))
        lists[least].append(module)
        sizes[least] += size
    return [each for each in lists if each]


@pytest.mark.parametrize("module", outermost())
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


def _script(module: str) -> str:
    verilog = VERILOG / f"{module}.v"
    reads = f"{_primitives(verilog)}read_verilog {verilog.relative_to(ROOT)}"
    return f"{reads}; hierarchy -check -top {module}; proc; opt_clean; check -assert"


def _mark(module: str) -> Path:
    text = (VERILOG / f"{module}.v").read_text()
    return READ / hashlib.sha256(f"{_script(module)}\n{text}".encode()).hexdigest()[:16]


@pytest.mark.parametrize("batch", batches(), ids=lambda batch: "-".join(batch[:3]))
def test_yosys(batch: list[str]) -> None:
    unread = [module for module in batch if not _mark(module).exists()]
    if not unread:
        return
    passes("yosys", "-q", "-p", "; design -reset; ".join(map(_script, unread)))
    READ.mkdir(parents=True, exist_ok=True)
    for module in unread:
        _mark(module).touch()
