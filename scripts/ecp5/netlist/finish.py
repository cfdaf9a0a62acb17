# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Passes over every netlist that Yosys has made for an ECP5."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.ecp5.netlist.carries import shorten_carry_chains
from scripts.ecp5.netlist.fan_out import limit_fan_out
from scripts.ecp5.netlist.output_registers import use_output_registers


def finish(netlist: Path) -> None:
    """Writes Yosys's JSON of a flat design again."""
    design = json.loads(netlist.read_text())
    for module in design["modules"].values():
        use_output_registers(module)
        shorten_carry_chains(module)
        limit_fan_out(module)
    netlist.write_text(json.dumps(design))


def sources() -> list[str]:
    """The passes' text, for names under which netlists are kept."""
    return [
        (Path(__file__).parent / name).read_text()
        for name in ("finish.py", "sinks.py", "output_registers.py", "carries.py", "fan_out.py")
    ]
