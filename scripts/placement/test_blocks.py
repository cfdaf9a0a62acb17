# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Carry chains and LUT RAM move by exchanging whole places; what was there goes where they were."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scripts.placement.blocks import Blocks
from scripts.placement.demand import Arrivals
from scripts.placement.design import Design, Place
from scripts.placement.slices import Slices
from scripts.placement.small import Small
from scripts.placement.timing import Timing
from scripts.placement.wires import Wires


def annealed(small: Small, folder: Path, heat: float) -> Design:
    design = small.design(folder)
    slices = Slices(design)
    arrivals = Arrivals(design, slices.places, 0.0)

    print("seed 1")
    Blocks(design, slices, arrivals, Wires(design, Timing(design, "8", {})), random.Random(1)).anneal(1000, heat)
    assert arrivals.excess() == pytest.approx(Arrivals(design, slices.places, 0.0).excess())
    again = Slices(design)
    for place in slices.places:
        assert slices.cells(place) == again.cells(place)
    return design


def site(position: int) -> str:
    return f"SLICE{'ABCD'[position // 2]}.K{position % 2}"


@pytest.fixture
def chained() -> Small:
    """A sum of twelve bits at the left of a row, what it adds at its right; a LUT and registers in its way."""
    small = Small()
    for bit in range(12):
        carries = {"FCO": f"c{bit}"} | ({"FCI": f"c{bit - 1}"} if bit else {})
        small.lut(f"bit{bit}", f"X{2 + bit // 8}/Y5/{site(bit % 8)}", "CCU2", A=f"a{bit}", F=f"f{bit}", **carries)
        small.register(
            f"operand{bit}", f"X{20 + bit // 8}/Y5/{site(bit % 8).replace('K', 'FF')}", M=f"d{bit}", Q=f"a{bit}"
        )
    small.lut("between", "X20/Y5/SLICEA.K0", A="x", F="y")
    for x in (2, 24):
        small.register(f"edge{x}", f"X{x}/Y4/SLICEA.FF0", M=f"e{x}", Q=f"g{x}")
    return small


def test_a_chain_moves_whole_towards_its_operands(chained: Small, tmp_path: Path) -> None:
    cells = annealed(chained, tmp_path, heat=1e-9).cells
    first = cells["bit0"].place
    assert abs(first[0] - 20) <= 2
    for bit in range(12):
        assert cells[f"bit{bit}"].place == (first[0] + bit // 8, first[1])
        assert cells[f"bit{bit}"].site == site(bit % 8)


@pytest.mark.parametrize("heat", [1e-9, 1e9])
def test_no_two_cells_come_to_one_site(chained: Small, heat: float, tmp_path: Path) -> None:
    cells = annealed(chained, tmp_path, heat).cells.values()
    assert len({(cell.place, cell.site) for cell in cells}) == len(cells)


def test_a_chain_is_never_cut_by_another(tmp_path: Path) -> None:
    small = Small()
    for name, x, y in (("one", 2, 5), ("two", 5, 5), ("three", 3, 4)):
        for bit in range(20):
            carries = {"FCO": f"{name}_c{bit}"} | ({"FCI": f"{name}_c{bit - 1}"} if bit else {})
            small.lut(f"{name}{bit}", f"X{x + bit // 8}/Y{y}/{site(bit % 8)}", "CCU2", A=f"{name}_a{bit}", **carries)
    small.register("edge", "X9/Y4/SLICEA.FF0", M="e", Q="g")
    cells = annealed(small, tmp_path, heat=1e9).cells
    for name in ("one", "two", "three"):
        x, y = cells[f"{name}0"].place
        assert [cells[f"{name}{bit}"].place for bit in range(20)] == [(x + bit // 8, y) for bit in range(20)]


def test_lut_ram_takes_what_writes_it_along(tmp_path: Path) -> None:
    small = Small()
    small.cell("TRELLIS_RAMW", "write", "X2/Y5/SLICEC.RAMW", A0="w", WADO0="wad")
    small.lut("ram", "X2/Y5/SLICEA.K0", "DPRAM", A="r", F="f", WAD0="wad", WRE="w")
    small.register("reads", "X20/Y5/SLICEA.FF0", M="f", Q="r")
    small.register("writes", "X20/Y6/SLICEA.FF0", M="v", Q="w")
    small.register("edge", "X2/Y6/SLICEA.FF0", M="e", Q="g")
    cells = annealed(small, tmp_path, heat=1e-9).cells
    ram: Place = cells["ram"].place
    assert abs(ram[0] - 20) <= 2
    assert cells["write"].place == ram
    assert (cells["ram"].site, cells["write"].site) == ("SLICEA.K0", "SLICEC.RAMW")


def test_a_design_without_any_is_left_alone(tmp_path: Path) -> None:
    small = Small()
    small.register("only", "X5/Y10/SLICEA.FF0", M="d", Q="q")
    assert annealed(small, tmp_path, heat=1.0).cells["only"].place == (5, 10)
