# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What may be where in an ECP5's places of logic: eight positions with a LUT and a flip-flop each, two of them a slice.

The rules are nextpnr's (ecp5/arch_place.cc, `slices_compatible`). Carries and LUT RAM stay where they are, and so do flip-flops
behind them. LUTs that make a wider function (by PFUMX, L6MUX21) move as one, to positions that are wired in the same way.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeVar

from scripts.placement.design import Cell, Design, Place

Key = TypeVar("Key")
Value = TypeVar("Value")

POSITIONS = 8
RAM_WRITE_SLICE = 2  # whose LUTs are gone where LUT RAM is written
WIDER = ("F1", "FXA", "FXB")  # inputs by which a LUT takes others' outputs


@dataclass(frozen=True, eq=False)
class Unit:
    """Cells that move together: LUTs, and the flip-flops that take their outputs directly; or one flip-flop."""

    cells: list[Cell]
    span: int  # 1, 2 (a slice), 4 or 8 positions: the least, aligned to as many, that all are in

    @property
    def place(self) -> Place:
        return self.cells[0].place


class Slices:
    def __init__(self, design: Design) -> None:
        self._luts: dict[tuple[Place, int], Cell] = {}
        self._registers: dict[tuple[Place, int], Cell] = {}
        self._ram_writers = {cell.place: cell for cell in design.of("TRELLIS_RAMW")}
        luts, registers = design.of("TRELLIS_COMB"), design.of("TRELLIS_FF")
        for cell in luts:
            self._luts[cell.place, _position(cell)] = cell
        for cell in registers:
            self._registers[cell.place, _position(cell)] = cell
        self._shared = {cell: _shared(cell) for cell in registers}
        self._edges = {cell: _inverts(cell, "CLKMUX", "LSRMUX") for cell in registers}
        self._ram_edges = {cell.place: _inverts(cell, "WCKMUX", "WREMUX") for cell in luts if _is_ram(cell)}
        self._enable = {cell: _enable(cell) for cell in registers}
        self._carries = {cell for cell in luts if cell.parameters.get("MODE") == "CCU2"}
        self.units = [unit for group in _groups(luts) if (unit := self._unit(group)) is not None]
        self.units += [Unit([cell], 1) for cell in registers if not _takes_lut(cell)]
        # Nothing says where else slices are, but that rows of them have no gaps.
        used = {place for place, _ in self._luts} | {place for place, _ in self._registers}
        rows = {y: [x for x, row in used if row == y] for y in {y for _, y in used}}
        self.places = {(x, y) for y, xs in rows.items() for x in range(min(xs), max(xs) + 1)}

    def room(self, unit: Unit, place: Place) -> int | None:
        """By how much the positions of a unit may change to be there; None where there is no room."""
        if not all(self._agrees(cell, place) for cell in unit.cells if cell in self._shared):
            return None
        first = min(map(_position, unit.cells)) // unit.span * unit.span
        shifts = range(-first, POSITIONS - first, unit.span)
        return next((shift for shift in shifts if self._fits(unit, place, shift)), None)

    def move(self, unit: Unit, place: Place, shift: int) -> None:
        for cell in unit.cells:
            kept, letter = (self._registers, "FF") if cell in self._shared else (self._luts, "K")
            position = _position(cell)
            del kept[cell.place, position]
            position += shift
            cell.place, cell.site = place, f"SLICE{'ABCD'[position // 2]}.{letter}{position % 2}"
            kept[place, position] = cell

    def cells(self, place: Place) -> list[Cell]:
        """All that are there."""
        there = [kept.get((place, at)) for kept in (self._luts, self._registers) for at in range(POSITIONS)]
        return [cell for cell in (*there, self._ram_writers.get(place)) if cell is not None]

    def exchange(self, one: Place, other: Place) -> None:
        """Everything in one place for everything in the other."""
        cells = self.cells(one), self.cells(other)
        for there, place in zip(cells, (other, one), strict=True):
            for cell in there:
                cell.place = place
        for kept in (self._luts, self._registers):
            for at in range(POSITIONS):
                _swap(kept, (one, at), (other, at))
        _swap(self._ram_writers, one, other)
        _swap(self._ram_edges, one, other)

    def _unit(self, group: list[Cell]) -> Unit | None:
        """Of LUTs, unless they have to stay."""
        place = group[0].place
        if any("MODE" in lut.parameters or lut.place != place for lut in group):
            return None
        positions = [_position(lut) for lut in group]
        behind = (self._registers.get((place, position)) for position in positions)
        span = next(span for span in (1, 2, 4, 8) if min(positions) // span == max(positions) // span)
        return Unit(group + [cell for cell in behind if cell is not None and _takes_lut(cell)], span)

    def _agrees(self, register: Cell, place: Place) -> bool:
        """With the other registers of a place: one clock, one reset; with LUT RAM: their polarities."""
        if self._ram_edges.get(place, self._edges[register]) != self._edges[register]:
            return False
        others = (self._registers.get((place, at)) for at in range(POSITIONS))
        return all(other is None or self._shared[other] == self._shared[register] for other in others)

    def _fits(self, unit: Unit, place: Place, shift: int) -> bool:
        return all(
            (self._register_fits if cell in self._shared else self._lut_fits)(cell, place, _position(cell) + shift)
            for cell in unit.cells
        )

    def _lut_fits(self, lut: Cell, place: Place, position: int) -> bool:
        if (place, position) in self._luts or self._luts.get((place, position ^ 1)) in self._carries:
            return False
        if position // 2 == RAM_WRITE_SLICE and place in self._ram_writers:
            return False
        behind = self._registers.get((place, position))
        return not _uses_m(lut) or behind is None or _takes_lut(behind)

    def _register_fits(self, register: Cell, place: Place, position: int) -> bool:
        if (place, position) in self._registers:
            return False
        before = self._luts.get((place, position))
        if not _takes_lut(register) and before is not None and _uses_m(before):
            return False
        beside = self._registers.get((place, position ^ 1))
        return beside is None or self._enable[beside] == self._enable[register]


def _groups(luts: list[Cell]) -> list[list[Cell]]:
    """Those joined by wider functions, in groups."""
    driver = {cell.outputs[port]: cell for cell in luts for port in ("F", "OFX") if port in cell.outputs}
    joined: dict[Cell, list[Cell]] = defaultdict(list)
    for cell in luts:
        for port in WIDER:
            if port in cell.ports:
                joined[cell].append(driver[cell.ports[port]])
                joined[driver[cell.ports[port]]].append(cell)
    groups, seen = [], set()
    for cell in luts:
        if cell not in seen:
            group = [cell]
            seen.add(cell)
            for member in group:  # which grows
                new = [other for other in dict.fromkeys(joined[member]) if other not in seen]
                seen.update(new)
                group += new
            groups.append(group)
    return groups


def _swap(kept: dict[Key, Value], one: Key, other: Key) -> None:
    values = kept.pop(one, None), kept.pop(other, None)
    for key, value in zip((other, one), values, strict=True):
        if value is not None:
            kept[key] = value


def _position(cell: Cell) -> int:
    return 2 * "ABCD".index(cell.site[5]) + int(cell.site[-1])


def _uses_m(lut: Cell) -> bool:
    """Input M selects: then no flip-flop takes it."""
    return "OFX" in lut.ports


def _takes_lut(register: Cell) -> bool:
    return register.parameters["SD"].strip() == "1"


def _is_ram(lut: Cell) -> bool:
    return lut.parameters.get("MODE") == "DPRAM"


def _inverts(cell: Cell, *inputs: str) -> tuple[bool, ...]:
    return tuple(cell.parameters.get(each) == "INV" for each in inputs)


def _shared(register: Cell) -> tuple[object, ...]:
    """What all registers of a place have in common."""
    edges, asynchronous = _inverts(register, "CLKMUX", "LSRMUX"), register.parameters.get("SRMODE") == "ASYNC"
    return register.ports.get("CLK"), register.ports.get("LSR"), edges, asynchronous


def _enable(register: Cell) -> tuple[object, ...]:
    """What the two registers of a slice have in common."""
    return register.ports.get("CE"), register.parameters.get("CEMUX"), register.parameters.get("GSR")
