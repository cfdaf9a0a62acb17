# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Both measures of crowding against plain sums over all places; the moves are drawn."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from scripts.placement.demand import Arrivals, Prices
from scripts.placement.design import Design, Place, bounds
from scripts.placement.slices import Slices
from scripts.placement.small import Small

SIZE = 12


@pytest.fixture
def design(tmp_path: Path) -> Design:
    """LUTs at random places, each driving one of two nets of each other three."""
    rng, small = random.Random(1), Small()
    print("seed 1")
    sites = [
        f"X{x}/Y{y}/SLICE{letter}.K{k}" for x in range(SIZE) for y in range(SIZE) for letter in "ABCD" for k in (0, 1)
    ]
    for number, site in enumerate(rng.sample(sites, 300)):
        near = [f"f{rng.randrange(300)}" for _ in range(3)]
        small.lut(f"lut{number}", site, A=near[0], B=near[1], C=near[2], F=f"f{number}")
    return small.design(tmp_path)


def places() -> set[Place]:
    return {(x, y) for x in range(SIZE) for y in range(SIZE)}


def plain_excess(design: Design, limit: float) -> float:
    ending: dict[Place, set[int]] = {place: set() for place in places()}
    for cell in design.cells.values():
        ending[cell.place].update(net for port, net in cell.ports.items() if port != "F")
    total = 0.0
    for x, y in places():
        window = [len(ending.get((x + right, y + up), ())) for right in (-1, 0, 1) for up in (-1, 0, 1)]
        total += max(0.0, sum(window) / 9 - limit) ** 2
    return total


def test_a_moves_change_is_told_before_it_and_right_after_it(design: Design) -> None:
    rng, limit = random.Random(2), 4.0
    slices, arrivals = Slices(design), Arrivals(design, places(), limit)
    assert arrivals.excess() == pytest.approx(plain_excess(design, limit))
    assert arrivals.excess() > 0
    moves = 0
    for _ in range(200):
        unit, new = rng.choice(slices.units), (rng.randrange(SIZE), rng.randrange(SIZE))
        old, position = unit.place, slices.room(unit, new)
        if position is None or new == old:
            continue
        nets = Counter(net for cell in unit.cells for net in cell.arriving)
        gone, come = arrivals.gone(old, nets), arrivals.come(new, nets)
        before, told = arrivals.excess(), arrivals.change(old, gone, new, come)
        assert told >= arrivals.change(old, gone)
        slices.move(unit, new, position)
        arrivals.move(unit, old, new)
        moves += 1
        assert arrivals.excess() - before == pytest.approx(told)
        assert arrivals.excess() == pytest.approx(plain_excess(design, limit))
    assert moves > 100


def test_a_wire_costs_its_length_where_few_go(design: Design) -> None:
    prices = Prices(fair=1e9, slope=1)
    prices.follow(design)
    assert prices.of(2, 9, 3, 5) == pytest.approx(7 + 2)
    assert prices.of(4, 4, 4, 4) == 0


def test_a_wire_costs_more_over_places_where_many_go(design: Design) -> None:
    """RUDY, and a smoothing over nine places, by loops."""
    fair, slope = 20.0, 10.0
    prices = Prices(fair, slope)
    prices.follow(design)
    over = np.zeros((SIZE + 2, SIZE + 2))
    for pins in design.pins.values():
        x0, x1, y0, y1 = bounds(pins)
        length = (x1 - x0 + y1 - y0) * (1 + 0.03 * len(pins) if len(pins) > 3 else 1)
        over[y0 + 1 : y1 + 2, x0 + 1 : x1 + 2] += length / ((x1 - x0 + 1) * (y1 - y0 + 1))
    smooth = np.array([[over[y : y + 3, x : x + 3].mean() for x in range(SIZE)] for y in range(SIZE)])
    assert prices.worst == pytest.approx(smooth.max())
    assert smooth.max() > fair
    price = 1 + (np.maximum(0, smooth - fair) / slope) ** 2
    for x0, x1, y0, y1 in ((0, 11, 0, 11), (3, 8, 5, 5), (6, 6, 2, 9)):
        assert prices.of(x0, x1, y0, y1) == pytest.approx((x1 - x0 + y1 - y0) * price[y0 : y1 + 1, x0 : x1 + 1].mean())
