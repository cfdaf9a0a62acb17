# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Longest paths of small designs, added up by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.placement.small import Small
from scripts.placement.timing import DELAYS, Timing

GRADE = "8_5G"
NS = DELAYS[GRADE]
WIRE, TILE, START, LUT = NS.wire, NS.tile, NS.register, NS.lut
LONG = 100  # times the periods that tests name: no path takes all of it


def wires(small: Small, folder: Path, **periods: float) -> dict[tuple[str, str], float]:
    """The share of the longest path over each wire, by names of driver and end; of all that have one."""
    timing = Timing(small.design(folder), GRADE, {small.net(clock): LONG * ns for clock, ns in periods.items()})
    found = timing.urgent(0.0, 0.0)
    assert timing.longest() == [pytest.approx(max(found.values(), default=0.0))]
    return {(driver.name, end.name): LONG * share for (driver, end), share in found.items()}


def through_a_lut(other_clock: str = "clk") -> Small:
    small = Small()
    small.register("first", "X3/Y5/SLICEA.FF0", M="d", Q="q")
    small.lut("lut", "X6/Y9/SLICEA.K0", A="q", F="f")
    small.register("behind", "X6/Y9/SLICEA.FF0", behind_lut=True, DI="f", Q="r")
    small.register("far", "X26/Y9/SLICEA.FF0", M="f", Q="s", CLK=other_clock)
    return small


def test_a_path_is_what_its_cells_and_wires_take(tmp_path: Path) -> None:
    found = wires(through_a_lut(), tmp_path, clk=8.0)
    path = START + (WIRE + 7 * TILE) + LUT + (WIRE + 20 * TILE)
    assert found == {("first", "lut"): pytest.approx(path / 8), ("lut", "far"): pytest.approx(path / 8)}


def test_a_register_behind_its_lut_is_reached_without_a_wire(tmp_path: Path) -> None:
    found = wires(through_a_lut(other_clock="slow"), tmp_path, clk=8.0)
    assert found == {("first", "lut"): pytest.approx((START + WIRE + 7 * TILE + LUT) / 8)}


def test_a_path_from_one_clock_to_another_does_not_count(tmp_path: Path) -> None:
    assert wires(through_a_lut(other_clock="slow"), tmp_path, slow=8.0) == {}


def test_a_wires_share_is_that_of_the_longest_path_over_it(tmp_path: Path) -> None:
    small = through_a_lut()
    small.register("near", "X3/Y6/SLICEA.FF0", M="q", Q="t")
    small.lut("beside", "X3/Y7/SLICEA.K0", A="f", F="u")
    small.register("end", "X3/Y7/SLICEA.FF0", True, DI="u", Q="v")
    found = wires(small, tmp_path, clk=8.0)
    assert found["first", "lut"] == found["lut", "far"] == max(found.values())
    assert found["first", "near"] == pytest.approx((START + WIRE + TILE) / 8)
    assert found["lut", "beside"] == pytest.approx((START + 2 * WIRE + 12 * TILE + 2 * LUT) / 8)


def test_where_a_path_takes_more_than_its_period_shares_are_of_that_path(tmp_path: Path) -> None:
    small = through_a_lut()
    small.register("near", "X3/Y6/SLICEA.FF0", M="q", Q="t")
    near, path = START + WIRE + TILE, START + (WIRE + 7 * TILE) + LUT + (WIRE + 20 * TILE)
    timing = Timing(small.design(tmp_path), GRADE, {small.net("clk"): near})
    assert timing.longest() == [pytest.approx(path / near)]
    found = {(driver.name, end.name): share for (driver, end), share in timing.urgent(1.0, 0.0).items()}
    assert found["lut", "far"] == pytest.approx(1.0)
    assert found["first", "near"] == pytest.approx(near / path)
    late = timing.urgent(0.0, 0.9)
    assert set(late) == {wire for wire, share in timing.urgent(1.0, 0.0).items() if share > 0.9}
    assert all(beyond == pytest.approx(0.1) for beyond in late.values())


def test_a_carry_chain_is_fast_along_and_slow_at_its_ends(tmp_path: Path) -> None:
    small = Small()
    small.register("first", "X3/Y5/SLICEA.FF0", M="d", Q="q")
    small.lut("low", "X3/Y5/SLICEA.K0", "CCU2", A="q", F="sum0", FCO="carry0")
    for bit in range(1, 8):
        carries = {"FCI": f"carry{bit - 1}", "FCO": f"carry{bit}"}
        small.lut(f"bit{bit}", f"X3/Y5/SLICE{'ABCD'[bit // 2]}.K{bit % 2}", "CCU2", F=f"sum{bit}", **carries)
    small.register("last", "X3/Y5/SLICED.FF1", True, DI="sum7", Q="r")
    ns = START + WIRE + NS.into_carry + 6 * NS.carry + NS.out_of_carry
    assert wires(small, tmp_path, clk=1.0) == {("first", "low"): pytest.approx(ns)}


def test_lut_ram_is_read_through_and_written_by_its_clock(tmp_path: Path) -> None:
    small = Small()
    small.register("address", "X3/Y5/SLICEA.FF0", M="d", Q="q")
    small.register("enable", "X3/Y5/SLICEA.FF1", M="d", Q="w")
    small.lut("ram", "X3/Y6/SLICEA.K0", "DPRAM", A="q", F="f", WCK="clk", WRE="w")
    small.register("behind", "X3/Y6/SLICEA.FF0", True, DI="f", Q="r")
    assert wires(small, tmp_path, clk=1.0) == {
        ("address", "ram"): pytest.approx(START + WIRE + TILE + LUT),
        ("enable", "ram"): pytest.approx(START + WIRE + TILE),
    }


def test_a_block_ram_begins_and_ends_paths_by_its_sides_clock(tmp_path: Path) -> None:
    small = Small()
    small.cell("DP16KD", "ram", "X3/Y10/EBR", CLKA="clk", CLKB="slow", DOA0="word", ADB0="address")
    small.register("first", "X3/Y12/SLICEA.FF0", M="word", Q="address", CLK="clk")
    assert wires(small, tmp_path, clk=1.0) == {("ram", "first"): pytest.approx(NS.block_ram + WIRE + 2 * TILE)}


def test_a_block_rams_own_register_is_quick(tmp_path: Path) -> None:
    small = Small()
    small.cell("DP16KD", "ram", "X3/Y10/EBR", {"REGMODE_A": "OUTREG", "REGMODE_B": "NOREG"}, CLKA="clk", DOA0="word")
    small.register("first", "X3/Y12/SLICEA.FF0", M="word", CLK="clk")
    assert wires(small, tmp_path, clk=1.0) == {("ram", "first"): pytest.approx(NS.output_register + WIRE + 2 * TILE)}
