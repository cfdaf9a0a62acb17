# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Paths of the mutants' files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
RTL = BUILD / "rtl"  # the Verilog of every module
PLANTED = BUILD / "mutants"  # Verilog with mutants in it
REPORT = BUILD / "reports" / "mutants.json"
