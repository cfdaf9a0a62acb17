# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Moves of the annealer in small placed designs."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.ecp5.placement.small import Small

pytestmark = pytest.mark.soak  # a frozen tool, which takes a minute to be compiled


def crossed() -> Small:
    """Two block RAMs, each beside what the other is connected to; a third shows that there is a second row."""
    small = Small()
    small.cell("DP16KD", "left", "X4/Y10/EBR0", DOA0="right_word", DIA0="right_data")
    small.cell("DP16KD", "right", "X22/Y10/EBR3", DOA0="left_word", DIA0="left_data")
    small.cell("DP16KD", "away", "X4/Y40/EBR0", DOA0="away_word")
    for name, x, y in (("left", 4, 10), ("right", 22, 10), ("away", 22, 40)):
        small.cell("TRELLIS_IO", f"{name}_in", f"X{x}/Y{y}/PIOA", O=f"{name}_word")
        small.cell("TRELLIS_IO", f"{name}_out", f"X{x}/Y{y}/PIOB", I=f"{name}_data")
    return small


def test_block_rams_change_places_or_take_free_ones_with_the_names_of_their_sites(tmp_path: Path) -> None:
    bels, _ = crossed().annealed(tmp_path)
    assert (bels["left"], bels["right"], bels["away"]) == ("X22/Y10/EBR3", "X4/Y10/EBR0", "X22/Y40/EBR3")


def corners(small: Small) -> None:
    """Registers that show how far places of logic go; with a clock that nothing else may share a place with."""
    for name, place in (("first", "X0/Y0"), ("last", "X30/Y0"), ("low", "X0/Y30"), ("end", "X30/Y30")):
        small.register(name, f"{place}/SLICEA.FF0", M=f"{name}_d", Q=f"{name}_q", CLK="other")


def place(bel: str) -> tuple[int, int]:
    x, y, _ = bel.split("/")
    return int(x[1:]), int(y[1:])


def test_a_chain_of_carries_moves_as_a_row_with_what_is_behind_it(tmp_path: Path) -> None:
    small = Small()
    corners(small)
    small.cell("TRELLIS_IO", "pin", "X15/Y30/PIOA", O="a", I="sum")
    for tile in range(2):
        for at in range(8):
            bit = 8 * tile + at
            site = f"X{4 + tile}/Y0/SLICE{'ABCD'[at // 2]}"
            small.lut(f"c{bit}", f"{site}.K{at % 2}", "CCU2", A="a", FCI=f"f{bit}", FCO=f"f{bit + 1}", F=f"s{bit}")
            small.register(
                f"r{bit}", f"{site}.FF{at % 2}", behind_lut=True, DI=f"s{bit}", Q="sum" if bit == 0 else f"q{bit}"
            )
    bels, _ = small.annealed(tmp_path)
    x, y = place(bels["c0"])
    assert (x, y) != (4, 0)
    for bit in range(16):
        site = f"SLICE{'ABCD'[bit % 8 // 2]}"
        assert bels[f"c{bit}"] == f"X{x + bit // 8}/Y{y}/{site}.K{bit % 2}"
        assert bels[f"r{bit}"] == f"X{x + bit // 8}/Y{y}/{site}.FF{bit % 2}"
    assert abs(y - 30) + abs(x - 15) < 8


def test_a_register_moves_with_the_lut_that_it_takes(tmp_path: Path) -> None:
    small = Small()
    corners(small)
    small.cell("TRELLIS_IO", "pin", "X20/Y30/PIOA", O="a", I="q")
    small.lut("lut", "X2/Y2/SLICEA.K0", A="a", F="f")
    small.register("behind", "X2/Y2/SLICEA.FF0", behind_lut=True, DI="f", Q="q")
    bels, _ = small.annealed(tmp_path)
    assert place(bels["lut"]) in {(19, 30), (20, 30), (21, 30)}
    assert bels["behind"] == bels["lut"].replace(".K", ".FF")


@pytest.mark.parametrize(
    ("control", "shared", "apart"),
    [("LSR", "/SLICE", 15), ("CE", ".", 20)],
    ids=["resets in a place", "enables in a slice"],
)
def test_registers_of_different_control_are_never_together(
    control: str, shared: str, apart: int, tmp_path: Path
) -> None:
    """Twenty would all like to be where the pin is: they take fewer than `apart` places or slices, each with one
    net."""
    small = Small()
    corners(small)
    small.cell("TRELLIS_IO", "pin", "X10/Y10/PIOA", O="a")
    for number in range(20):
        net = f"control{number % 2}"
        ports = {"M": "a", "Q": f"q{number}", control: net}
        small.register(f"r{number}", f"X{1 + number}/Y2/SLICEA.FF0", False, **ports)
    bels, _ = small.annealed(tmp_path)
    together: dict[str, set[int]] = {}
    for number in range(20):
        together.setdefault(bels[f"r{number}"].partition(shared)[0], set()).add(number % 2)
    assert len(together) < apart
    assert all(len(nets) == 1 for nets in together.values())


def test_a_design_of_pins_alone_is_left_alone(tmp_path: Path) -> None:
    small = Small()
    small.cell("TRELLIS_IO", "in", "X2/Y0/PIOA", O="a")
    small.cell("TRELLIS_IO", "out", "X9/Y0/PIOA", I="a")
    bels, lines = small.annealed(tmp_path)
    assert bels == {"in": "X2/Y0/PIOA", "out": "X9/Y0/PIOA"}
    assert lines[0].startswith("  placed: 7 tiles of wire")
