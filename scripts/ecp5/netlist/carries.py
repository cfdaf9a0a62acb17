# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Carry chains without cells that only bring the first carry in or the last one out.

A carry leaves a CCU2C for logic by one more CCU2C, and a constant comes into the first one by one more, each of two
LUTs. nextpnr puts the former behind every chain whose last COUT has a net, also where nobody takes it, and the latter
before every chain, since Yosys begins each with a constant. Here COUT has no net where nobody takes it, and a first bit
makes its carry of A and B alone.

Sources: nextpnr, ecp5/pack.cc, `split_carry_chain`; Yosys, lattice/arith_map_ccu2c.v and ccu2c_sim.vh.
"""

from __future__ import annotations

from typing import Any

from scripts.ecp5.netlist.sinks import Sink, sinks_of

Cell = dict[str, Any]
NOTHING = ["x"]  # for nextpnr: the port is there, and has no net


def shorten_carry_chains(module: dict[str, Any]) -> int:
    """In a flat ECP5 design as Yosys writes it; returns how many cells nextpnr need not add."""
    cells: dict[str, Cell] = module["cells"]
    sinks = sinks_of(module)
    shorter = 0
    for name in [name for name, cell in cells.items() if cell["type"] == "CCU2C"]:
        wires = cells[name]["connections"]
        if not _taken(wires["COUT"], sinks):
            wires["COUT"] = NOTHING
            shorter += 1
        if _begins(cells[name]):
            _begin(cells, name, _taken(wires["S0"], sinks))
            shorter += 1
    return shorter


def _taken(net: list[Any], sinks: dict[int, list[Sink]]) -> bool:
    return net[0] in sinks


def _begins(cell: Cell) -> bool:
    """A chain, of a constant, and with C and D that leave entries of LUT4 which are not LUT2's: those are where both
    are 0."""
    wires = cell["connections"]
    constants = [wires[pin][0] in ("0", "1") for pin in ("CIN", "C0", "D0")]
    return (
        all(constants) and wires["C0"] + wires["D0"] != ["0", "0"] and cell["parameters"]["INJECT1_0"].strip() == "NO"
    )


def _begin(cells: dict[str, Cell], name: str, summed: bool) -> None:
    """LUT4 is never true, so that the carry is LUT2's, of A and B; the sum is another LUT's."""
    wires, settings = cells[name]["connections"], cells[name]["parameters"]
    carry_in = int(wires["CIN"][0])
    corner = 4 * int(wires["C0"][0]) + 8 * int(wires["D0"][0])
    table = int(settings["INIT0"], 2)
    propagate, generate = table >> corner & 15, table & 15
    if summed:
        cells[f"{name}_first"] = _lut(propagate ^ 15 * carry_in, wires)
        wires["S0"] = NOTHING
    settings["INIT0"] = f"{propagate * carry_in | ~propagate & generate:016b}"
    wires["CIN"] = NOTHING


def _lut(table: int, wires: dict[str, list[Any]]) -> Cell:
    """A LUT from A0 and B0 to S0."""
    return {
        "hide_name": 1,
        "type": "LUT4",
        "parameters": {"INIT": f"{table * 0x1111:016b}"},
        "attributes": {},
        "port_directions": {"A": "input", "B": "input", "C": "input", "D": "input", "Z": "output"},
        "connections": {"A": wires["A0"], "B": wires["B0"], "C": ["0"], "D": ["0"], "Z": wires["S0"]},
    }


def name_carries(module: dict[str, Any]) -> None:
    """Back to what Yosys reads, which wants a net or nothing at an output."""
    for cell in module["cells"].values():
        if cell["type"] == "CCU2C":
            outputs = [port for port, way in cell["port_directions"].items() if way == "output"]
            for port in outputs:
                if cell["connections"].get(port) == NOTHING:
                    del cell["connections"][port], cell["port_directions"][port]
