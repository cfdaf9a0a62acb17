# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What may be beside what in a place of an ECP5's logic, by the rules of nextpnr's ecp5/arch_place.cc."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.placement.design import Design
from scripts.placement.slices import Slices, Unit
from scripts.placement.small import Small

THERE = (9, 5)
POSITION = {f"SLICE{'ABCD'[at // 2]}.{kind}{at % 2}": at for at in range(8) for kind in ("K", "FF")}
FROM, AT = "X3/Y5/SLICEA", "X9/Y5/SLICE"


def unit(slices: Slices, design: Design, name: str) -> Unit:
    return next(unit for unit in slices.units if design.cells[name] in unit.cells)


def room(small: Small, name: str, folder: Path) -> int | None:
    design = small.design(folder)
    slices = Slices(design)
    moving = unit(slices, design, name)
    shift = slices.room(moving, THERE)
    return None if shift is None else shift + POSITION[moving.cells[0].site]


def full_but(small: Small, free: set[int]) -> None:
    """Of LUTs."""
    for position in set(range(8)) - free:
        small.lut(f"full{position}", f"{AT}{'ABCD'[position // 2]}.K{position % 2}", A=f"a{position}", F=f"f{position}")


def test_a_lut_takes_a_free_position(tmp_path: Path) -> None:
    small = Small()
    small.lut("lut", f"{FROM}.K0", A="a", F="f")
    full_but(small, {5})
    assert room(small, "lut", tmp_path) == 5


def test_a_full_place_has_no_room(tmp_path: Path) -> None:
    small = Small()
    small.lut("lut", f"{FROM}.K0", A="a", F="f")
    full_but(small, set())
    assert room(small, "lut", tmp_path) is None


def test_no_lut_beside_a_carry_and_none_where_lut_ram_is_written(tmp_path: Path) -> None:
    small = Small()
    small.lut("lut", f"{FROM}.K0", A="a", F="f")
    full_but(small, {0, 1, 4, 5})
    small.lut("carry", f"{AT}A.K0", "CCU2", A="b", F="g")
    assert room(small, "lut", tmp_path) == 4
    small.cell("TRELLIS_RAMW", "write", f"{AT}C.RAMW", A0="c")
    assert room(small, "lut", tmp_path) is None


@pytest.mark.parametrize(
    ("port", "own", "others", "has_room"),
    [
        ("CLK", "clk", "clk", True),
        ("CLK", "clk", "other", False),
        ("LSR", "reset", "reset", True),
        ("LSR", "reset", "other", False),
    ],
)
def test_a_place_has_one_clock_and_one_reset(port: str, own: str, others: str, has_room: bool, tmp_path: Path) -> None:
    small = Small()
    mine, other = {port: own}, {port: others}
    small.register("mine", f"{FROM}.FF0", False, M="d", Q="q", **mine)
    small.register("other", f"{AT}D.FF1", False, M="e", Q="r", **other)
    assert (room(small, "mine", tmp_path) is not None) == has_room


def test_a_slice_has_one_enable(tmp_path: Path) -> None:
    small = Small()
    small.register("mine", f"{FROM}.FF0", M="d", Q="q", CE="enable")
    for slice_, enable in zip("ABCD", ("other", "other", "enable", "other"), strict=True):
        small.register(f"beside{slice_}", f"{AT}{slice_}.FF0", M=f"d{slice_}", Q=f"q{slice_}", CE=enable)
    assert room(small, "mine", tmp_path) == 5


def test_a_register_of_its_own_is_not_before_a_wider_functions_select(tmp_path: Path) -> None:
    """Both take input M."""
    small = Small()
    small.register("mine", f"{FROM}.FF0", M="d", Q="q")
    small.lut("wide", f"{AT}A.K0", A="a", F="f", M="select", OFX="o")
    assert room(small, "mine", tmp_path) == 1


def test_a_lut_and_the_register_behind_it_move_together(tmp_path: Path) -> None:
    small = Small()
    small.lut("lut", f"{FROM}.K0", A="a", F="f")
    small.register("behind", f"{FROM}.FF0", behind_lut=True, DI="f", Q="q")
    small.register("other", f"{AT}A.FF0", M="d", Q="r")
    design = small.design(tmp_path)
    slices = Slices(design)
    pair = unit(slices, design, "lut")
    assert pair is unit(slices, design, "behind")
    shift = slices.room(pair, THERE)
    assert shift == 1
    slices.move(pair, THERE, shift)
    assert {(cell.place, cell.site) for cell in pair.cells} == {(THERE, "SLICEA.K1"), (THERE, "SLICEA.FF1")}
    assert slices.room(pair, (3, 5)) == -1  # free again


def wide(small: Small, slice_: str) -> None:
    """Of five inputs, with the register behind it."""
    small.lut("low", f"X3/Y5/SLICE{slice_}.K0", A="a", F="f", F1="g", M="select", OFX="o")
    small.lut("high", f"X3/Y5/SLICE{slice_}.K1", A="a", F="g")
    small.register("behind", f"X3/Y5/SLICE{slice_}.FF0", True, DI="o", Q="q")


def test_a_wider_function_moves_as_one_to_another_slice(tmp_path: Path) -> None:
    small = Small()
    wide(small, "A")
    small.lut("first", f"{AT}A.K1", A="b", F="h")
    small.register("select_taken", f"{AT}B.FF0", M="d", Q="r")
    design = small.design(tmp_path)
    slices = Slices(design)
    moving = unit(slices, design, "high")
    assert {cell.name for cell in moving.cells} == {"low", "high", "behind"}
    shift = slices.room(moving, THERE)
    assert shift == 4  # slice A has a LUT, in B a register takes input M
    slices.move(moving, THERE, shift)
    sites = {cell.name: (cell.place, cell.site) for cell in moving.cells}
    assert sites == {"low": (THERE, "SLICEC.K0"), "high": (THERE, "SLICEC.K1"), "behind": (THERE, "SLICEC.FF0")}


def test_a_function_of_six_inputs_moves_to_the_same_half(tmp_path: Path) -> None:
    small = Small()
    wide(small, "A")
    small.lut("low_b", "X3/Y5/SLICEB.K0", A="a", F="fb", F1="gb", M="select", OFX="ob")
    small.lut("high_b", "X3/Y5/SLICEB.K1", A="a", F="gb")
    design = small.design(tmp_path)
    small.lut("high", "X3/Y5/SLICEA.K1", A="a", F="g", FXA="o", FXB="ob", M="selects", OFX="six")
    design = small.design(tmp_path)
    slices = Slices(design)
    moving = unit(slices, design, "high_b")
    assert len(moving.cells) == 5
    assert slices.room(moving, THERE) == 0
    small.lut("first", f"{AT}B.K1", A="b", F="h")
    design = small.design(tmp_path)
    slices = Slices(design)
    assert slices.room(unit(slices, design, "high_b"), THERE) == 4


@pytest.mark.parametrize("mode", ["CCU2", "DPRAM"])
def test_carries_and_lut_ram_stay(mode: str, tmp_path: Path) -> None:
    small = Small()
    small.lut("lut", f"{FROM}.K0", mode, A="a", F="f")
    small.register("behind", f"{FROM}.FF0", True, DI="f", Q="q")
    assert Slices(small.design(tmp_path)).units == []


def test_a_function_across_two_places_stays(tmp_path: Path) -> None:
    small = Small()
    small.lut("first", "X3/Y5/SLICED.K1", A="a", F="f", FXA="o", FXB="p", M="select", OFX="q")
    small.lut("second", "X4/Y5/SLICEA.K1", A="a", F="g", M="select", OFX="o")
    small.lut("third", "X3/Y5/SLICED.K0", A="a", F="h", M="select", OFX="p")
    assert Slices(small.design(tmp_path)).units == []
