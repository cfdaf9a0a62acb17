# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Flip-flops and LUTs that drive very many inputs are doubled, so that each copy drives some that lie together.

router2 reaches an input from whatever wire of its net is nearest, however late the signal is there: over a net of 700
inputs it was seen to take 7 ns for 14 tiles. Copies have the same inputs and so the same value in every clock. Yosys
has no such pass.
"""

from __future__ import annotations

from typing import Any

from scripts.ecp5.netlist.sinks import Sink, sinks_of

MANY = 128  # inputs, before an output is copied
# Inputs of a copy. Of enables and resets more: registers of one place share a reset, those of a slice an enable.
EACH, EACH_CONTROL = 64, 128
CONTROL = ("CE", "LSR")
OUTPUT = {"TRELLIS_FF": "Q", "LUT4": "Z"}


def limit_fan_out(module: dict[str, Any]) -> int:
    """In a flat ECP5 design as Yosys writes it; returns how many copies there are.

    First LUTs, whose copies are inputs more of the flip-flops before them.
    """
    return sum(_copy(module, kind) for kind in ("LUT4", "TRELLIS_FF"))


def _copy(module: dict[str, Any], kind: str) -> int:
    cells = module["cells"]
    sinks = sinks_of(module)
    nets = (bit for cell in cells.values() for bits in cell["connections"].values() for bit in bits)
    free = 1 + max((bit for bit in nets if isinstance(bit, int)), default=0)
    copies = 0
    for name, cell in [(name, cell) for name, cell in cells.items() if cell["type"] == kind]:
        (output,) = cell["connections"][OUTPUT[kind]] or [None]
        driven = sinks.get(output, [])
        if len(driven) <= MANY:
            continue
        for number, group in enumerate(_groups([sink for sink in driven if sink.cell and sink != Sink(name, "DI")])):
            if not number:
                continue  # the first stays where it is
            cells[f"{name}_copy_{number}"] = cell | {"connections": cell["connections"] | {OUTPUT[kind]: [free]}}
            for sink in group:
                pins = cells[sink.cell]["connections"]
                pins[sink.port] = [free if bit == output else bit for bit in pins[sink.port]]
            free += 1
            copies += 1
    return copies


def _groups(sinks: list[Sink]) -> list[list[Sink]]:
    """Names follow the hierarchy and the words that bits are of: what is together in their order lies together."""
    groups = []
    for control, each in ((True, EACH_CONTROL), (False, EACH)):
        ordered = sorted(sink for sink in sinks if (sink.port in CONTROL) == control)
        groups += [ordered[first : first + each] for first in range(0, len(ordered), each)]
    return groups
