# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Block RAMs move towards what they are connected to, into free sites and into each other's."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scripts.placement.design import Cell, Design, bounds
from scripts.placement.rams import Rams
from scripts.placement.small import Small


def annealed(small: Small, folder: Path, heat: float) -> Design:
    design = small.design(folder)

    def cost(cells: list[Cell]) -> float:
        nets = {net for cell in cells for net in cell.nets}
        return sum(x1 - x0 + y1 - y0 for x0, x1, y0, y1 in (bounds(design.pins[net]) for net in nets))

    print("seed 1")
    Rams(design, cost, random.Random(1)).anneal(200, heat)
    return design


@pytest.fixture
def crossed() -> Small:
    """Two, each beside what the other is connected to; a third shows that there is a second row."""
    small = Small()
    small.cell("DP16KD", "left", "X4/Y10/EBR0", DOA0="right_word", DIA0="right_data")
    small.cell("DP16KD", "right", "X22/Y10/EBR3", DOA0="left_word", DIA0="left_data")
    small.cell("DP16KD", "away", "X4/Y40/EBR0", DOA0="away_word")
    small.register("by_left", "X5/Y10/SLICEA.FF0", M="left_word", Q="left_data")
    small.register("by_right", "X21/Y10/SLICEA.FF0", M="right_word", Q="right_data")
    small.register("by_away", "X4/Y41/SLICEA.FF0", M="away_word", Q="end")
    return small


def test_two_change_places_and_take_the_names_of_their_sites(crossed: Small, tmp_path: Path) -> None:
    cells = annealed(crossed, tmp_path, heat=1e-9).cells
    assert (cells["left"].place, cells["left"].site) == ((22, 10), "EBR3")
    assert (cells["right"].place, cells["right"].site) == ((4, 10), "EBR0")
    assert cells["away"].place == (4, 40)


def test_one_moves_to_a_free_site(crossed: Small, tmp_path: Path) -> None:
    crossed.register("by_away", "X22/Y41/SLICEA.FF0", M="away_word", Q="end")
    cells = annealed(crossed, tmp_path, heat=1e-9).cells
    assert (cells["away"].place, cells["away"].site) == ((22, 40), "EBR3")


def test_heat_moves_them_anywhere_and_never_two_to_one_site(crossed: Small, tmp_path: Path) -> None:
    design = annealed(crossed, tmp_path, heat=1e9)
    places = [cell.place for cell in design.of("DP16KD")]
    assert len(set(places)) == 3
    assert set(places) <= {(x, y) for x in (4, 22) for y in (10, 40)}


def test_a_design_without_any_is_left_alone(tmp_path: Path) -> None:
    small = Small()
    small.register("only", "X5/Y10/SLICEA.FF0", M="d", Q="q")
    assert annealed(small, tmp_path, heat=1.0).of("DP16KD") == []
