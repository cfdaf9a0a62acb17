# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Makes a placement easier to route: its cells leave places where wires crowd, for ones where that costs least.

nextpnr's placers look at the length of wires and at timing, not at how many wires go over a place. A design that fills most of
an ECP5 then has places that ask for three times the mean, and router2 ends with nets that go round them in ever wider circles.
Here cells move to where their wires cost less (`Wires`) and fewer nets end in one place (`Arrivals`): block RAMs (`Rams`),
carry chains and LUT RAM (`Blocks`), all other LUTs and flip-flops (`Units`). What is connected to what stays as it is, and so
do multipliers, PLLs and pins. docs/decisions/relief-between-placing-and-routing.md
"""

from __future__ import annotations

import random
from pathlib import Path

from scripts.placement.blocks import Blocks
from scripts.placement.demand import Arrivals
from scripts.placement.design import Design, Net
from scripts.placement.rams import Rams
from scripts.placement.slices import Slices
from scripts.placement.timing import Timing
from scripts.placement.units import Units
from scripts.placement.wires import Wires

ARRIVALS = 15  # nets that end in a place of an ECP5 before conflicts become frequent
RAM_MOVES, BLOCK_MOVES = 6_000, 6_000  # in a pass
RAM_HEAT, BLOCK_HEAT, COOLER = 100.0, 1.0, 0.4  # tiles, in the first pass; by how much less in each one after it
# Tiles that a unit may move in a pass: the first, as a share of the one before, the least. Cells of a path do not move as one.
REACH, SHORTER, SHORTEST = 14, 0.7, 6
TIMINGS = 4  # in a pass


def relieve(placed: Path, grade: str, periods: dict[str, float], seed: int, passes: int) -> Design:
    """What nextpnr has placed, with cells elsewhere; prints both in figures.

    For a device's speed grade (`timing.DELAYS`); `periods`, in ns, are by the name of the clock's net.
    """
    design = Design(placed)
    relief = Relief(design, grade, {design.named[name]: ns for name, ns in periods.items()}, random.Random(seed))
    print(f"  placed: {relief.wires}")
    for number in range(passes):
        relief.run(number)
        print(f"  relieved {number + 1}/{passes}: {relief.wires}", flush=True)
    return design


class Relief:
    def __init__(self, design: Design, grade: str, periods: dict[Net, float], rng: random.Random) -> None:
        self._random = rng
        self._slices = Slices(design)
        self.wires = Wires(design, Timing(design, grade, periods))
        arrivals = Arrivals(design, self._slices.places, ARRIVALS)
        self._rams = Rams(design, self.wires.cost, rng)
        self._blocks = Blocks(design, self._slices, arrivals, self.wires, rng)
        self._units = Units(self._slices, arrivals, self.wires, rng)

    def run(self, number: int) -> None:
        """One pass over all that may move, units in another order each time."""
        self.wires.follow()
        self._rams.anneal(RAM_MOVES, RAM_HEAT * COOLER**number)
        self._blocks.anneal(BLOCK_MOVES, BLOCK_HEAT * COOLER**number)
        reach = max(SHORTEST, round(REACH * SHORTER**number))
        order = list(self._slices.units)
        self._random.shuffle(order)
        for part in range(TIMINGS):
            self.wires.hasten()
            for unit in order[part::TIMINGS]:
                self._units.settle(unit, reach)
