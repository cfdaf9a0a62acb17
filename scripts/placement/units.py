# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Moves of LUTs and flip-flops, one unit at a time, to the best of some places."""

from __future__ import annotations

import random
from collections import Counter

from scripts.placement.demand import Arrivals
from scripts.placement.design import Place
from scripts.placement.slices import Slices, Unit
from scripts.placement.wires import Ends, Wires

WEIGHT = 1.5  # tiles of wire for an excess of one net, squared
# Places that are tried: TRIES of them up to AROUND tiles away, and as many up to NEAR from where wires would be shortest.
TRIES, AROUND, NEAR = 14, 6, 3


class Units:
    def __init__(self, slices: Slices, arrivals: Arrivals, wires: Wires, rng: random.Random) -> None:
        self._slices, self._arrivals, self._wires, self._random = slices, arrivals, wires, rng

    def settle(self, unit: Unit, reach: int) -> None:
        """No further than `reach` tiles, each way."""
        old, ends = unit.place, self._wires.ends(unit.cells)
        arriving = Counter(net for cell in unit.cells for net in cell.arriving)
        gone = self._arrivals.gone(old, arriving)
        now = self._wires.between(old, ends)
        leaving = WEIGHT * self._arrivals.change(old, gone)
        best, least = None, 0.0
        for place in self._candidates(old, ends, reach):
            wires = self._wires.between(place, ends) - now
            if wires + leaving >= least:
                continue
            cost = wires + WEIGHT * self._arrivals.change(old, gone, place, self._arrivals.come(place, arriving))
            if cost < least:
                shift = self._slices.room(unit, place)
                if shift is not None:
                    best, least = (place, shift), cost
        if best is not None:
            self._slices.move(unit, *best)
            self._arrivals.move(unit, old, best[0])

    def _candidates(self, old: Place, ends: Ends, reach: int) -> list[Place]:
        tries = [self._near(old, min(AROUND, reach)) for _ in range(TRIES)]
        wanted = ends.middle()
        if wanted is not None:
            towards = _clamped(wanted[0], old[0], reach), _clamped(wanted[1], old[1], reach)
            tries += [towards, *(self._near(towards, NEAR) for _ in range(TRIES))]
        return [place for place in dict.fromkeys(tries) if place != old and place in self._slices.places]

    def _near(self, place: Place, reach: int) -> Place:
        return place[0] + self._random.randint(-reach, reach), place[1] + self._random.randint(-reach, reach)


def _clamped(wanted: int, at: int, reach: int) -> int:
    return max(at - reach, min(at + reach, wanted))
