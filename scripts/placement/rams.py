# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Moves of block RAMs: few, with many wires each, so that they also change places, and at first for the worse (annealing)."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Callable
from statistics import median_low

from scripts.placement.design import Cell, Design, Place

MANY = 40  # pins of a net that says nothing of where a RAM should be
NEAR_X, NEAR_Y = 6, 14  # tiles: around the middle of what a RAM is connected to


class Rams:
    """`cost` is of all wires of some cells, at present."""

    def __init__(self, design: Design, cost: Callable[[list[Cell]], float], rng: random.Random) -> None:
        self._pins, self._cost, self._random = design.pins, cost, rng
        self._at = {cell.place: cell for cell in design.of("DP16KD")}
        self._sites = {place[0]: cell.site for place, cell in self._at.items()}  # the site's name goes by the column
        self._columns, self._rows = sorted(self._sites), sorted({y for _, y in self._at})

    def anneal(self, moves: int, heat: float) -> None:
        """A move that costs `heat` more happens once in e times."""
        for _ in range(moves if self._at else 0):
            self._try(self._random.choice(list(self._at.values())), heat)

    def _try(self, ram: Cell, heat: float) -> None:
        old, new = ram.place, self._somewhere(ram)
        if new == old:
            return
        other = self._at.get(new)
        moved = [ram] if other is None else [ram, other]
        before = self._cost(moved)
        self._put(ram, new, other, old)
        worse = self._cost(moved) - before
        if worse > 0 and self._random.random() >= math.exp(-worse / heat):
            self._put(ram, old, other, new)

    def _somewhere(self, ram: Cell) -> Place:
        """Any place, or one near the middle of what the RAM is connected to."""
        pins = [pin for net in ram.nets if len(self._pins[net]) < MANY for pin in self._pins[net]]
        if not pins or self._random.random() < 0.5:
            return self._random.choice(self._columns), self._random.choice(self._rows)
        x = median_low(pin.place[0] for pin in pins) + self._random.randint(-NEAR_X, NEAR_X)
        y = median_low(pin.place[1] for pin in pins) + self._random.randint(-NEAR_Y, NEAR_Y)
        return _nearest(self._columns, x), _nearest(self._rows, y)

    def _put(self, ram: Cell, place: Place, other: Cell | None, others: Place) -> None:
        del self._at[ram.place]
        for cell, new in ((ram, place), (other, others)):
            if cell is not None:
                cell.place, cell.site = new, self._sites[new[0]]
                self._at[new] = cell


def _nearest(numbers: list[int], wanted: int) -> int:
    at = bisect_left(numbers, wanted)
    return min(numbers[max(at - 1, 0) : at + 1], key=lambda number: abs(number - wanted))
