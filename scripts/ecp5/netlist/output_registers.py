# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Registers right behind a block RAM become its own.

A port of an ECP5's block RAM has a register behind its outputs, with a clock enable, OCE (FPGA-TN-02204). By it the
word comes a nanosecond after the clock instead of four to six, and flip-flops and the wires to them are gone. Yosys
leaves it unused.
"""

from __future__ import annotations

from typing import Any

from scripts.ecp5.netlist.sinks import Sink, sinks_of

Cell = dict[str, Any]


def use_output_registers(module: dict[str, Any]) -> int:
    """In a flat ECP5 design as Yosys writes it; returns how many flip-flops are gone."""
    cells: dict[str, Cell] = module["cells"]
    sinks = sinks_of(module)
    absorbed = 0
    for memory in [cell for cell in cells.values() if cell["type"] == "DP16KD"]:
        for sides, outputs in _ports(memory):
            behind = _registers_behind(cells, memory, outputs, sinks)
            if behind and _are_one(memory, sides, [cells[name] for name in behind.values()]):
                _absorb(cells, memory, sides, behind)
                absorbed += len(behind)
    return absorbed


def _absorb(cells: dict[str, Cell], memory: Cell, sides: str, behind: dict[str, str]) -> None:
    enable, inverted = _enable(cells[next(iter(behind.values()))])
    for side in sides:
        memory["parameters"][f"REGMODE_{side}"] = "OUTREG"
        memory["parameters"][f"OCE{side}MUX"] = "INV" if inverted else f"OCE{side}"
        memory["connections"][f"OCE{side}"] = [enable]
    for port, name in behind.items():
        memory["connections"][port] = cells.pop(name)["connections"]["Q"]


def _ports(memory: Cell) -> list[tuple[str, list[str]]]:
    """The sides and the outputs of each port that reads: a word of 36 bits is of both sides."""
    outputs = {side: [port for port in memory["connections"] if port.startswith(f"DO{side}")] for side in "AB"}
    if int(memory["parameters"]["DATA_WIDTH_B"], 2) == 36:
        return [("AB", outputs["A"] + outputs["B"])]
    return list(outputs.items())


def _registers_behind(
    cells: dict[str, Cell], memory: Cell, outputs: list[str], sinks: dict[int, list[Sink]]
) -> dict[str, str]:
    """By each output that is used the flip-flop that alone takes it; none if one of them goes elsewhere."""
    found: dict[str, str] = {}
    for port in outputs:
        for bit in memory["connections"][port]:
            taken = sinks[bit] if isinstance(bit, int) else []
            if not taken:
                continue
            name, pin = taken[0]
            if len(taken) > 1 or pin != "DI" or name not in cells or cells[name]["type"] != "TRELLIS_FF":
                return {}
            found[port] = name
    return found


def _are_one(memory: Cell, sides: str, registers: list[Cell]) -> bool:
    """Clock and enable are the same for all, the clock is the memory's, and none is ever reset or starts as one."""
    wires, settings = memory["connections"], memory["parameters"]
    clocks = {(wires[f"CLK{side}"][0], settings[f"CLK{side}MUX"] != "INV") for side in sides}
    clocks |= {(cell["connections"]["CLK"][0], cell["parameters"]["CLKMUX"] != "INV") for cell in registers}
    return (
        len(clocks) == 1
        and len({_enable(cell) for cell in registers}) == 1
        and all(wires[f"RST{side}"] == ["0"] for side in sides)
        and all(cell["connections"].get("LSR", ["0"]) == ["0"] for cell in registers)
        and all(cell["parameters"]["REGSET"] == "RESET" for cell in registers)
    )


def _enable(register: Cell) -> tuple[int | str, bool]:
    """The net, and whether it is inverted."""
    kind = register["parameters"]["CEMUX"].strip()
    return ("1", False) if kind == "1" else (register["connections"]["CE"][0], kind == "INV")
