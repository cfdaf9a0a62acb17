# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Moves of carry chains and LUT RAM: whole places in a row, exchanged with as many others and all that is in them.

Every rule of an ECP5's logic is within a place, but that a carry chain goes on in the next one to the right.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from scripts.placement.demand import Arrivals
from scripts.placement.design import Cell, Design, Place, middle
from scripts.placement.slices import Slices
from scripts.placement.wires import Wires

MANY = 40  # pins of a net that says nothing of where a block should be
REACH = 10  # tiles around there


@dataclass(frozen=True, eq=False)
class Block:
    first: Cell  # in the leftmost place
    length: int  # places

    @property
    def places(self) -> list[Place]:
        return _row(self.first.place, self.length)


class Blocks:
    def __init__(self, design: Design, slices: Slices, arrivals: Arrivals, wires: Wires, rng: random.Random) -> None:
        self._pins, self._slices, self._arrivals, self._wires, self._random = design.pins, slices, arrivals, wires, rng
        self._at: dict[Place, Block] = {}
        self._blocks = _chains(design.of("TRELLIS_COMB"))
        for block in self._blocks:
            self._at.update(dict.fromkeys(block.places, block))
        for cell in design.of("TRELLIS_RAMW"):
            if cell.place not in self._at:
                self._at[cell.place] = Block(cell, 1)
                self._blocks.append(self._at[cell.place])

    def anneal(self, moves: int, heat: float) -> None:
        """A move that costs `heat` more happens once in e times."""
        for _ in range(moves if self._blocks else 0):
            self._try(self._random.choice(self._blocks), heat)

    def _try(self, block: Block, heat: float) -> None:
        old = block.places
        new = _row(self._somewhere(old), block.length)
        if not self._may_exchange(old, new):
            return
        cells = [cell for place in old + new for cell in self._slices.cells(place)]
        before = self._wires.cost(cells)
        self._exchange(old, new)
        worse = self._wires.cost(cells) - before
        if worse > 0 and self._random.random() >= math.exp(-worse / heat):
            self._exchange(old, new)

    def _somewhere(self, places: list[Place]) -> Place:
        """Around the middle of what the block is connected to, or around where it is."""
        at = places[0]
        if self._random.random() < 0.5:
            cells = [cell for place in places for cell in self._slices.cells(place)]
            nets = {net for cell in cells for net in cell.nets if len(self._pins[net]) < MANY}
            ends = [(pin.place, 1.0) for net in nets for pin in self._pins[net] if pin.place not in places]
            ends += [(end.place, hurry) for cell in cells for end, hurry in self._wires.hurried(cell)]
            if ends:
                at = middle(ends)
        return at[0] + self._random.randint(-REACH, REACH), at[1] + self._random.randint(-REACH, REACH)

    def _may_exchange(self, old: list[Place], new: list[Place]) -> bool:
        """Both rows are there and apart, and no other block is half in the new one."""
        return not set(old) & set(new) and all(
            place in self._slices.places and (place not in self._at or set(self._at[place].places) <= set(new))
            for place in new
        )

    def _exchange(self, old: list[Place], new: list[Place]) -> None:
        for one, other in zip(old, new, strict=True):
            self._slices.exchange(one, other)
            self._arrivals.exchange(one, other)
            blocks = self._at.pop(one, None), self._at.pop(other, None)
            for place, block in zip((other, one), blocks, strict=True):
                if block is not None:
                    self._at[place] = block


def _row(first: Place, length: int) -> list[Place]:
    return [(first[0] + right, first[1]) for right in range(length)]


def _chains(luts: list[Cell]) -> list[Block]:
    """By carries from one place into the next."""
    chained = [cell for cell in luts if cell.parameters.get("MODE") == "CCU2"]
    driver = {cell.outputs["FCO"]: cell for cell in chained if "FCO" in cell.outputs}
    follows: dict[Place, Place] = {}
    for cell in chained:
        before = driver.get(cell.ports.get("FCI", -1))
        if before is not None and before.place != cell.place:
            follows[before.place] = cell.place
    firsts = {cell.place: cell for cell in chained if cell.place not in set(follows.values())}
    blocks = []
    for place, cell in firsts.items():
        length = 1
        while place in follows:
            place = follows[place]
            length += 1
        blocks.append(Block(cell, length))
    return blocks
