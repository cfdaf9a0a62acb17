# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A placed design as nextpnr-ecp5 writes it (`--write`): cells, the nets between them, and where each cell is.

Only the attribute that says where a cell is ever changes. A *place* is a tile, x and y as nextpnr counts them.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

Place = tuple[int, int]
Net = int
Bounds = tuple[int, int, int, int]  # least x, greatest x, least y, greatest y

BEL = "NEXTPNR_BEL"
# Ports with ways of their own: clocks, carries, and what stays within a slice.
UNWIRED = {"CLK", "WCK", "FCI", "FCO", "F1", "FXA", "FXB", "DI"}
WITHIN = {"WD", "WAD0", "WAD1", "WAD2", "WAD3"}


@dataclass(slots=True, eq=False)
class Cell:
    name: str
    kind: str
    place: Place
    site: str  # within the place, "SLICEA.K0"
    parameters: dict[str, str]
    ports: dict[str, Net]  # that are connected
    outputs: dict[str, Net]  # of these
    nets: list[Net] = field(default_factory=list)  # an entry for each pin that wires go to
    arriving: list[Net] = field(default_factory=list)  # of these the inputs

    @property
    def bel(self) -> str:
        """Place and site, as nextpnr names them."""
        return f"X{self.place[0]}/Y{self.place[1]}/{self.site}"


class Design:
    def __init__(self, path: Path) -> None:
        self._json = json.loads(path.read_text())
        module = top(self._json)
        self._written: dict[str, dict[str, Any]] = module["cells"]
        self.settings: dict[str, str] = module.setdefault(
            "settings", {}
        )  # nextpnr's; whole numbers as 32 binary digits
        self.named: dict[str, Net] = {name: net["bits"][0] for name, net in module["netnames"].items() if net["bits"]}
        self.cells: dict[str, Cell] = {}
        self.pins: dict[Net, list[Cell]] = defaultdict(list)
        for name, written in self._written.items():
            if BEL in written["attributes"]:
                self.cells[name] = self._cell(name, written)

    def _cell(self, name: str, written: dict[str, Any]) -> Cell:
        where = re.fullmatch(r"X(\d+)/Y(\d+)/(.+)", written["attributes"][BEL])
        assert where is not None
        ports = {port: bits[0] for port, bits in written["connections"].items() if bits}
        outputs = {port: net for port, net in ports.items() if written["port_directions"][port] == "output"}
        place = int(where[1]), int(where[2])
        cell = Cell(name, written["type"], place, where[3], written["parameters"], ports, outputs)
        for port, net in ports.items():
            if port not in UNWIRED:
                cell.nets.append(net)
                self.pins[net].append(cell)
                if port not in outputs and port not in WITHIN:
                    cell.arriving.append(net)
        return cell

    def of(self, kind: str) -> list[Cell]:
        return [cell for cell in self.cells.values() if cell.kind == kind]

    def wire(self) -> int:
        """Half-perimeters of all nets, in tiles."""
        return sum(x1 - x0 + y1 - y0 for x0, x1, y0, y1 in map(bounds, self.pins.values()))

    def write(self, path: Path) -> None:
        for name, cell in self.cells.items():
            self._written[name]["attributes"][BEL] = cell.bel
        path.write_text(json.dumps(self._json))


def top(written: dict[str, Any]) -> dict[str, Any]:
    """The module with most cells: others are primitives."""
    modules: dict[str, dict[str, Any]] = written["modules"]
    return max(modules.values(), key=lambda module: len(module["cells"]))


def bounds(cells: list[Cell]) -> Bounds:
    xs = [cell.place[0] for cell in cells]
    ys = [cell.place[1] for cell in cells]
    return min(xs), max(xs), min(ys), max(ys)


def middle(weighed: list[tuple[Place, float]]) -> Place:
    """The weighted median each way: where the sum of distances, each by its weight, is least."""
    x, y = (_median(sorted((place[axis], weight) for place, weight in weighed)) for axis in (0, 1))
    return x, y


def _median(ordered: list[tuple[int, float]]) -> int:
    sums = list(accumulate(weight for _, weight in ordered))
    return ordered[bisect_left(sums, sums[-1] / 2)][0]
