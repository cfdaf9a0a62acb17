# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Longest paths of small placed designs, added up by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.ecp5.placement.small import Small

pytestmark = pytest.mark.soak  # a frozen tool, which takes a minute to be compiled

# Delays of an LFE5UM5G, ns: a wire, a tile of its way, clock to output, a LUT.
WIRE, TILE, START, LUT = 0.4, 0.04, 0.31, 0.15
SHORT = 0.01  # share of a period: figures have two digits behind the point


def longest(small: Small, folder: Path, **periods: float) -> list[float]:
    """ns, of each clock, before anything has moved."""
    _, lines = small.annealed(folder, **{clock: ns * SHORT for clock, ns in periods.items()})
    placed = re.fullmatch(r"  placed: .* paths of ([\d., ]+) of their clocks' periods", lines[0])
    assert placed is not None, lines
    shares = [float(share) for share in placed[1].split(", ")]
    return [share * ns * SHORT for share, ns in zip(shares, periods.values(), strict=True)]


def about(ns: float) -> object:
    return pytest.approx(ns, abs=0.001)


def through_a_lut(other_clock: str = "clk") -> Small:
    small = Small()
    small.register("first", "X3/Y5/SLICEA.FF0", M="d", Q="q")
    small.lut("lut", "X6/Y9/SLICEA.K0", A="q", F="f")
    small.register("behind", "X6/Y9/SLICEA.FF0", behind_lut=True, DI="f", Q="r")
    small.register("far", "X26/Y9/SLICEA.FF0", M="f", Q="s", CLK=other_clock)
    return small


def test_a_path_is_what_its_cells_and_wires_take(tmp_path: Path) -> None:
    path = START + (WIRE + 7 * TILE) + LUT + (WIRE + 20 * TILE)
    assert longest(through_a_lut(), tmp_path, clk=8.0) == [about(path)]


def test_a_register_behind_its_lut_is_reached_without_a_wire(tmp_path: Path) -> None:
    assert longest(through_a_lut(other_clock="slow"), tmp_path, clk=8.0) == [about(START + WIRE + 7 * TILE + LUT)]


def test_a_path_from_one_clock_to_another_does_not_count(tmp_path: Path) -> None:
    assert longest(through_a_lut(other_clock="slow"), tmp_path, slow=8.0) == [0.0]


def test_each_clock_has_a_period_of_its_own(tmp_path: Path) -> None:
    small = through_a_lut()
    small.register("other", "X3/Y6/SLICEA.FF0", M="t", Q="t", CLK="slow")
    small.register("end", "X3/Y8/SLICEA.FF0", M="t", Q="u", CLK="slow")
    path = START + (WIRE + 7 * TILE) + LUT + (WIRE + 20 * TILE)
    assert longest(small, tmp_path, clk=8.0, slow=16.0) == [about(path), about(START + WIRE + 2 * TILE)]


def test_carries_take_no_wires(tmp_path: Path) -> None:
    small = Small()
    small.register("first", "X2/Y5/SLICEA.FF0", M="d", Q="q")
    small.lut("low", "X6/Y5/SLICEA.K0", "CCU2", A="q", FCO="carry")
    small.lut("high", "X6/Y5/SLICEA.K1", "CCU2", FCI="carry", F="sum")
    small.register("behind", "X6/Y5/SLICEA.FF1", behind_lut=True, DI="sum", Q="r")
    into, out = 0.28, 0.25
    assert longest(small, tmp_path, clk=8.0) == [about(START + WIRE + 4 * TILE + into + out)]


@pytest.mark.parametrize(("mode", "ns"), [("OUTREG", 0.24), ("NOREG", 1.42)])
def test_a_block_rams_own_register_is_quicker_than_its_word(mode: str, ns: float, tmp_path: Path) -> None:
    small = Small()
    small.cell("DP16KD", "ram", "X4/Y10/EBR0", {"REGMODE_A": mode}, CLKA="clk", DOA0="word")
    small.register("end", "X6/Y10/SLICEA.FF0", M="word", Q="q")
    assert longest(small, tmp_path, clk=8.0) == [about(ns + WIRE + 2 * TILE)]


def test_lut_ram_ends_the_way_of_what_is_written_and_not_of_its_address(tmp_path: Path) -> None:
    small = Small()
    small.register("address", "X2/Y5/SLICEA.FF0", M="d", Q="at")
    small.register("enable", "X2/Y9/SLICEA.FF0", M="d", Q="write")
    small.lut("ram", "X6/Y5/SLICEA.K0", "DPRAM", A="at", WRE="write", WCK="clk", F="word")
    small.register("end", "X16/Y5/SLICEA.FF0", M="word", Q="q")
    assert longest(small, tmp_path, clk=8.0) == [about(START + (WIRE + 4 * TILE) + LUT + (WIRE + 10 * TILE))]


def test_a_cell_goes_after_its_wires_only_as_far_as_its_path_has_time(tmp_path: Path) -> None:
    """Three of five wires lead away from the block RAM, whose path through the LUT has the time for some tiles of 28:
    at no temperature does the LUT leap to the pins, as by a price of the first tile for all."""
    small = Small()
    for name, x in (("first", 0), ("last", 30)):
        small.register(name, f"X{x}/Y10/SLICEA.FF0", M=f"{name}_d", Q=f"{name}_q", CLK="other")
    small.cell("DP16KD", "store", "X2/Y10/EBR0", {"REGMODE_A": "NOREG"}, DOA0="word", DIA0="data", CLKA="clk")
    pins = {port: small.cell("TRELLIS_IO", port, "X30/Y10/PIOA", O=f"in_{port}") for port in "BCD"}
    small.lut("lut", "X2/Y10/SLICEA.K0", A="word", F="data", **{port: f"in_{pin}" for port, pin in pins.items()})
    bels, lines = small.annealed(tmp_path, clk=3.6)
    assert 3 < int(bels["lut"].split("/")[0][1:]) < 12
    assert all(float(figures.split()[-5]) < 0.9 for figures in lines)
