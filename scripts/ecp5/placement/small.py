# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A placed design of a few cells, as nextpnr would have written it, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scripts.ecp5.placement.annealing import anneal

BEL = "NEXTPNR_BEL"
OUTPUTS = ("F", "OFX", "FCO", "Q", "DOA0", "WADO0")


class Small:
    def __init__(self) -> None:
        self._cells: dict[str, dict[str, Any]] = {}
        self._nets: dict[str, int] = {}

    def cell(self, kind: str, name: str, bel: str, parameters: dict[str, str] | None = None, **ports: str) -> str:
        """Each port with its net's name."""
        self._cells[name] = {
            "type": kind,
            "parameters": parameters or {},
            "attributes": {BEL: bel},
            "port_directions": {port: "output" if port in OUTPUTS else "input" for port in ports} | {"unused": "input"},
            "connections": {port: [self._nets.setdefault(net, len(self._nets) + 2)] for port, net in ports.items()}
            | {"unused": []},
        }
        return name

    def lut(self, name: str, bel: str, mode: str | None = None, **ports: str) -> str:
        return self.cell("TRELLIS_COMB", name, bel, {"MODE": mode} if mode else {}, **ports)

    def register(self, name: str, bel: str, behind_lut: bool = False, **ports: str) -> str:
        """`clk` is its clock unless another is given."""
        parameters = {"SD": "1 " if behind_lut else "0 ", "CEMUX": "CE" if "CE" in ports else "1 ", "GSR": "DISABLED"}
        return self.cell("TRELLIS_FF", name, bel, parameters, **({"CLK": "clk"} | ports))

    def annealed(self, folder: Path, **periods: float) -> tuple[dict[str, str], list[str]]:
        """Each cell's place then, and the annealer's lines; periods, ns, by the clock's net, for a device of grade 8_5G."""
        placed, result = folder / "placed.json", folder / "annealed.json"
        names = {name: {"bits": [number]} for name, number in self._nets.items()}
        placed.write_text(json.dumps({"modules": {"top": {"cells": self._cells, "netnames": names}}}))
        lines = anneal(placed, result, "8_5G", periods, seed=1)
        cells = json.loads(result.read_text())["modules"]["top"]["cells"]
        return {name: cell["attributes"][BEL] for name, cell in cells.items()}, lines
