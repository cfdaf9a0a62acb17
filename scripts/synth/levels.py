# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The longest path of a netlist in LUTs, from one register to the next: what can be known of a clock without the
vendor's tools. Carry chains, the multiplexers behind LUTs and inverters count nothing."""

from __future__ import annotations

import re
from typing import Any

RAM = re.compile(r"RAM\d+[XM]|TRELLIS_DPR")  # LUT RAM is read without a clock, and written with one, by:
WRITES = re.compile(r"WE|WCLK|DI[A-H]?|D|ADDRH|WAD|WRE|WCK")
LUT = re.compile(rf"LUT\d|{RAM.pattern}")
THROUGH = re.compile(r"CARRY\d|CCU2C|MUXF\d|PFUMX|L6MUX21|INV")


def lut_levels(netlist: dict[str, Any]) -> int:
    """Over all modules: with `-flatten` there is one, and what stays a module has registers at its border."""
    return max((_levels(module) for module in netlist["modules"].values() if module.get("cells")), default=0)


def _levels(module: dict[str, Any]) -> int:
    cells = [cell for cell in module["cells"].values() if LUT.match(cell["type"]) or THROUGH.match(cell["type"])]
    driver: dict[int, int] = {}
    for number, cell in enumerate(cells):
        for port in cell["connections"]:
            if cell["port_directions"][port] == "output":
                driver |= {bit: number for bit in cell["connections"][port] if isinstance(bit, int)}
    before = [_before(cell, driver) for cell in cells]
    depth: dict[int, int] = {}
    for start in range(len(cells)):
        waiting = [start]
        while waiting:
            number = waiting[-1]
            missing = [other for other in before[number] if other not in depth]
            if missing and number not in depth:
                depth[number] = 0  # a loop through a carry chain ends here
                waiting += missing
                continue
            deepest = max((depth[other] for other in before[number]), default=0)
            depth[number] = deepest + bool(LUT.match(cells[number]["type"]))
            waiting.pop()
    return max(depth.values(), default=0)


def _before(cell: dict[str, Any], driver: dict[int, int]) -> list[int]:
    """The cells that drive its inputs, of LUT RAM those that read."""
    writes = WRITES if RAM.match(cell["type"]) else None
    found = {
        driver[bit]
        for port, bits in cell["connections"].items()
        if cell["port_directions"][port] == "input" and not (writes and writes.fullmatch(port))
        for bit in bits
        if bit in driver
    }
    return sorted(found)
