# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The system tests, on the core's netlist instead of its Verilog: `make bench NAME=netlist`. For `make test` Yosys
takes too long."""

from __future__ import annotations

import importlib
import os

import pytest
from cocotb import regression

from cocotb_tests.bench.runner import run_module
from scripts.ecp5.fmax.tools import ROOT
from scripts.ecp5.netlist.gates import VERILATOR, seed, simulated

CORE, PRESET = "Downbeat", "board"
RTL = ROOT / "build" / "netlist" / "rtl"
MODULES = ("test_downbeat",)


def cases() -> int:
    """How many they are."""
    found = [value for name in MODULES for value in vars(importlib.import_module(f"cocotb_tests.{name}")).values()]
    return sum(len(list(value.generate_tests())) for value in found if isinstance(value, regression.TestGenerator))


@pytest.mark.parametrize("module", MODULES)
def test_system(module: str) -> None:
    os.chdir(ROOT)
    gates = simulated((RTL / f"{CORE}.v").relative_to(ROOT), seed())
    run_module(
        CORE,
        f"cocotb_tests.{module}",
        label=module.removeprefix("test_"),
        rtl=RTL,
        netlist=gates,
        verilator_args=VERILATOR,
    )
