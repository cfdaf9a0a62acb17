# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How crowded a placement is: by the nets that end in a place, and by the wires that go over it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from scripts.placement.design import Design, Net, Place, bounds
from scripts.placement.slices import Unit

AROUND = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]


class Arrivals:
    """Nets that end in a place, as the mean of it and the eight around it: more than `limit` cost their excess squared."""

    def __init__(self, design: Design, places: Iterable[Place], limit: float) -> None:
        self._limit = limit
        self._nets: dict[Place, Counter[Net]] = defaultdict(Counter)
        for cell in design.cells.values():
            if cell.kind.startswith("TRELLIS_") and cell.site.startswith("SLICE"):
                self._nets[cell.place].update(cell.arriving)
        self._mean = {place: self._count(place) for place in places}

    def at(self, place: Place) -> float:
        return self._mean[place]

    def excess(self) -> float:
        return sum(map(self._cost, self._mean.values()))

    def gone(self, place: Place, nets: Counter[Net]) -> int:
        """How many nets end there no more without so many pins."""
        here = self._nets[place]
        return sum(here[net] == pins for net, pins in nets.items())

    def come(self, place: Place, nets: Counter[Net]) -> int:
        here = self._nets[place]
        return sum(net not in here for net in nets)

    def change(self, old: Place, gone: int, new: Place | None = None, come: int = 0) -> float:
        """What it costs more if `gone` nets fewer end at the one place and `come` more at the other.

        No less than without the latter.
        """
        changes = {(old[0] + x, old[1] + y): -gone for x, y in AROUND}
        if new is not None:
            for x, y in AROUND:
                place = new[0] + x, new[1] + y
                changes[place] = changes.get(place, 0) + come
        return sum(
            self._cost(self._mean[place] + nets / len(AROUND)) - self._cost(self._mean[place])
            for place, nets in changes.items()
            if nets and place in self._mean
        )

    def move(self, unit: Unit, old: Place, new: Place) -> None:
        for cell in unit.cells:
            for net in cell.arriving:
                here = self._nets[old]
                here[net] -= 1
                if not here[net]:
                    del here[net]
                self._nets[new][net] += 1
        self._recount(old, new)

    def exchange(self, one: Place, other: Place) -> None:
        """All that is there."""
        self._nets[one], self._nets[other] = self._nets[other], self._nets[one]
        self._recount(one, other)

    def _recount(self, *changed: Place) -> None:
        for x, y in AROUND:
            for middle in changed:
                place = middle[0] + x, middle[1] + y
                if place in self._mean:
                    self._mean[place] = self._count(place)

    def _cost(self, mean: float) -> float:
        return max(0.0, mean - self._limit) ** 2

    def _count(self, place: Place) -> float:
        return sum(len(self._nets[place[0] + x, place[1] + y]) for x, y in AROUND) / len(AROUND)


class Prices:
    """What a tile of wire costs: 1, and more by the square where more wires go over a place than `fair`: 1 more for `slope` more.

    Wires are estimated by RUDY (Spindler and Johannes, DATE 2007): a net's half-perimeter, spread over its bounding box.
    """

    def __init__(self, fair: float, slope: float) -> None:
        self._fair, self._slope = fair, slope
        self._prices: np.ndarray | None = None
        self._sums: list[list[float]] = []
        self.worst = self.excess = 0.0  # wires over a place at most; over all places, beyond `fair`

    def follow(self, design: Design) -> None:
        """Prices half by the present placement, half by those before, so that cells do not go to and fro."""
        wires = _smooth(_rudy(design))
        beyond = np.maximum(0, wires - self._fair)
        self.worst, self.excess = float(wires.max()), float(beyond.sum())
        prices = 1 + (beyond / self._slope) ** 2
        self._prices = prices if self._prices is None else (prices + self._prices) / 2
        sums = np.zeros((prices.shape[0] + 1, prices.shape[1] + 1))
        sums[1:, 1:] = self._prices.cumsum(0).cumsum(1)
        self._sums = sums.tolist()

    def of(self, x0: int, x1: int, y0: int, y1: int) -> float:
        """Of a net with these bounds."""
        length = x1 - x0 + y1 - y0
        if not length:
            return 0.0
        below, above = self._sums[y0], self._sums[y1 + 1]
        return length * (above[x1 + 1] - below[x1 + 1] - above[x0] + below[x0]) / ((x1 - x0 + 1) * (y1 - y0 + 1))


def _rudy(design: Design) -> np.ndarray:
    width, height = (1 + max(cell.place[axis] for cell in design.cells.values()) for axis in (0, 1))
    corners = np.zeros((height + 1, width + 1))
    for cells in design.pins.values():
        x0, x1, y0, y1 = bounds(cells)
        # More pins, longer wires than the half-perimeter.
        length = (x1 - x0 + y1 - y0) * (1 + 0.03 * min(len(cells), 40) if len(cells) > 3 else 1)
        each = length / ((x1 - x0 + 1) * (y1 - y0 + 1))
        corners[y0, x0] += each
        corners[y1 + 1, x0] -= each
        corners[y0, x1 + 1] -= each
        corners[y1 + 1, x1 + 1] += each
    return corners.cumsum(0).cumsum(1)[:-1, :-1]


def _smooth(wires: np.ndarray) -> np.ndarray:
    padded = np.pad(wires, 1)
    height, width = wires.shape
    mean: np.ndarray = np.mean([padded[1 + y : 1 + y + height, 1 + x : 1 + x + width] for x, y in AROUND], axis=0)
    return mean
