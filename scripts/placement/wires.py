# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What wires cost: by their length, by how crowded their way is, and by how little time their paths have left."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from scripts.placement.demand import Prices
from scripts.placement.design import Bounds, Cell, Design, Net, Place, bounds, middle
from scripts.placement.timing import Timing

# Of an ECP5: with more wires than FAIR over a place router2's conflicts become frequent.
FAIR, SLOPE = 55, 35
# A wire costs more the more its path takes over HURRIED of its clock's period: a tile URGENCY for all of it, as its square.
# Where a path takes more than that period, over LATE of the longest path: were all in a hurry, none would get ahead.
HURRIED, LATE, URGENCY = 0.6, 0.85, 400
MANY = 40  # pins of a net whose bounds are looked at once a pass


class Ends(NamedTuple):
    """What cells are connected to: each net's bounds without them; where wires in a hurry go, and a tile's cost on top."""

    nets: list[Bounds]
    hurried: list[tuple[Place, float]]

    def middle(self) -> Place | None:
        """Where wires would be shortest."""
        corners = [(corner, 1.0) for x0, x1, y0, y1 in self.nets for corner in ((x0, y0), (x1, y1))]
        return middle(corners + [(place, 2 * hurry) for place, hurry in self.hurried]) if corners else None


class Wires:
    def __init__(self, design: Design, timing: Timing) -> None:
        self._design, self._timing = design, timing
        self._prices = Prices(FAIR, SLOPE)
        self._hurries: dict[tuple[Cell, Cell], float] = {}
        self._hurried: dict[Cell, list[tuple[Cell, float]]] = {}
        self._wide: dict[Net, Bounds] = {}
        self.follow()

    def __str__(self) -> str:
        paths = ", ".join(f"{share:.2f}" for share in self._timing.longest())
        worst = f"{self._prices.worst:.0f} over the worst place"
        return f"{self._design.wire():,} tiles of wire, {worst}, paths of {paths} of their clocks' periods"

    def follow(self) -> None:
        """Prices go by the present placement, half, and by those before, so that cells do not go to and fro."""
        self._prices.follow(self._design)
        self._wide = {net: bounds(pins) for net, pins in self._design.pins.items() if len(pins) > MANY}
        self.hasten()

    def hasten(self) -> None:
        """So do hurries."""
        now = {wire: URGENCY * beyond**2 for wire, beyond in self._timing.urgent(HURRIED, LATE).items()}
        before = {wire: hurry / 2 for wire, hurry in self._hurries.items() if hurry > 0.1}
        self._hurries = before | {wire: before.get(wire, hurry / 2) + hurry / 2 for wire, hurry in now.items()}
        self._hurried = defaultdict(list)
        for (driver, end), hurry in self._hurries.items():
            self._hurried[driver].append((end, hurry))
            self._hurried[end].append((driver, hurry))

    def hurried(self, cell: Cell) -> list[tuple[Cell, float]]:
        """What its wires in a hurry go to, and the cost of a tile on top."""
        return self._hurried.get(cell, [])

    def cost(self, cells: list[Cell]) -> float:
        """Of all wires of some cells; of hurries among them twice."""
        total = 0.0
        for net in {net for cell in cells for net in cell.nets}:
            total += self._prices.of(*bounds(self._design.pins[net]))
        for cell in cells:
            for end, hurry in self.hurried(cell):
                total += hurry * (abs(end.place[0] - cell.place[0]) + abs(end.place[1] - cell.place[1]))
        return total

    def ends(self, cells: list[Cell]) -> Ends:
        nets = []
        for net in dict.fromkeys(net for cell in cells for net in cell.nets):
            if net in self._wide:
                nets.append(self._wide[net])
            elif rest := [pin for pin in self._design.pins[net] if pin not in cells]:
                nets.append(bounds(rest))
        return Ends(
            nets, [(end.place, hurry) for cell in cells for end, hurry in self.hurried(cell) if end not in cells]
        )

    def between(self, place: Place, ends: Ends) -> float:
        """The cost, if all of the cells were there."""
        x, y = place
        total = 0.0
        for x0, x1, y0, y1 in ends.nets:
            total += self._prices.of(min(x0, x), max(x1, x), min(y0, y), max(y1, y))
        for (end_x, end_y), hurry in ends.hurried:
            total += hurry * (abs(end_x - x) + abs(end_y - y))
        return total
