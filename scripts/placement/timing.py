# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How much of its clock's period the longest path over a wire takes, by where cells are: before anything is routed.

Cells are as slow as nextpnr reports them. Wires are as slow as it routed them in boards' designs: about a least-squares fit over
critical paths. Its own estimate for speed grade 8 is 0.01 ns a tile, and so its placers let paths cross the chip.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from scripts.placement.design import Cell, Design, Net


class Delays(NamedTuple):
    """ns."""

    wire: float
    tile: float  # of a wire's way
    register: float  # clock to output, as of the block RAM
    block_ram: float
    output_register: float  # a block RAM's own
    lut: float
    into_carry: float
    carry: float
    out_of_carry: float
    multiplier: float


DELAYS = {  # by speed grade; of 8 wires lie between the others'
    "6": Delays(0.6, 0.055, 0.52, 5.83, 0.96, 0.24, 0.45, 0.04, 0.43, 5.2),
    "8": Delays(0.5, 0.05, 0.395, 4.1, 0.74, 0.18, 0.36, 0.03, 0.35, 3.1),
    "8_5G": Delays(0.4, 0.04, 0.31, 1.42, 0.24, 0.15, 0.28, 0.02, 0.25, 3.0),
}

DIRECT = {"FCI", "F1", "FXA", "FXB", "DI", "WD", "WAD0", "WAD1", "WAD2", "WAD3"}  # inputs reached without a wire
RAM_WRITE = {"WRE", "WD", "WAD0", "WAD1", "WAD2", "WAD3"}  # of a LUT that is RAM; the others read
CLOCKED = {"TRELLIS_FF", "DP16KD"}
CLOCKS = {"CLK", "WCK", "CLKA", "CLKB"}


class Arcs(NamedTuple):
    """From nets to inputs of cells, and for those within a path through each cell to a net it drives."""

    sources: np.ndarray
    cells: np.ndarray
    wired: np.ndarray
    results: np.ndarray
    ns: np.ndarray


class Timing:
    """Of paths that begin and end by one clock. `periods`, ns, are by the clock's net."""

    def __init__(self, design: Design, grade: str, periods: dict[Net, float]) -> None:
        self._delays = DELAYS[grade]
        self._cells = list(design.cells.values())
        self._numbers = {cell: number for number, cell in enumerate(self._cells)}
        self._nets = 1 + max(net for cell in self._cells for net in cell.ports.values())
        self._drivers = np.zeros(self._nets, dtype=np.int64)
        for cell in self._cells:
            self._drivers[list(cell.outputs.values())] = self._numbers[cell]
        self._levels = [self._arcs(level) for level in _levels(self._cells, self._delays)]
        self._domains = [
            (period, *_starts(self._cells, clock, self._delays), self._arcs(_ends(self._cells, clock)))
            for clock, period in periods.items()
        ]

    def longest(self) -> list[float]:
        """Of each clock, as shares of its period."""
        return [max(0.0, *(float(shares.max()) for _, shares in paths)) for paths in self._by_clock()]

    def urgent(self, of_period: float, of_longest: float) -> dict[tuple[Cell, Cell], float]:
        """Wires, by driver and by what they end at, on paths that take more than `of_period`; with the rest, as a share.

        Where a path takes more than a period: on those that take more than `of_longest` of the longest path.
        """
        found: dict[tuple[Cell, Cell], float] = {}
        for paths in self._by_clock():
            longest = max(float(shares.max()) for _, shares in paths)
            whole, least = (longest, of_longest) if longest > 1 else (1.0, of_period)
            for arcs, shares in paths:
                for number in np.flatnonzero((shares > least * whole) & arcs.wired):
                    wire = self._cells[self._drivers[arcs.sources[number]]], self._cells[arcs.cells[number]]
                    found[wire] = max(float(shares[number]) / whole - least, found.get(wire, 0.0))
        return found

    def _by_clock(self) -> Iterator[list[tuple[Arcs, np.ndarray]]]:
        """The longest path through each arc, as a share of the period."""
        places = np.array([cell.place for cell in self._cells])
        waits = [self._wires(arcs, places) + arcs.ns for arcs in self._levels]
        for period, starts, clock_to_output, ends in self._domains:
            before = np.full(self._nets, -np.inf)
            before[starts] = clock_to_output
            for arcs, wait in zip(self._levels, waits, strict=True):
                np.maximum.at(before, arcs.results, before[arcs.sources] + wait)
            after = np.full(self._nets, -np.inf)
            last = self._wires(ends, places)
            np.maximum.at(after, ends.sources, last)
            for arcs, wait in zip(reversed(self._levels), reversed(waits), strict=True):
                np.maximum.at(after, arcs.sources, after[arcs.results] + wait)
            within = [
                (arcs, (before[arcs.sources] + wait + after[arcs.results]) / period)
                for arcs, wait in zip(self._levels, waits, strict=True)
            ]
            yield [*within, (ends, (before[ends.sources] + last) / period)]

    def _wires(self, arcs: Arcs, places: np.ndarray) -> np.ndarray:
        tiles = abs(places[self._drivers[arcs.sources]] - places[arcs.cells]).sum(axis=1)
        ns: np.ndarray = arcs.wired * (self._delays.wire + self._delays.tile * tiles)
        return ns

    def _arcs(self, arcs: list[Arc]) -> Arcs:
        sources, cells, ports, results, ns = zip(*arcs, strict=True)
        wired = [port not in DIRECT for port in ports]
        return Arcs(*map(np.array, (sources, [self._numbers[cell] for cell in cells], wired, results, ns)))


class Arc(NamedTuple):
    source: Net
    cell: Cell
    port: str
    result: Net = 0
    ns: float = 0.0


def _levels(cells: Iterable[Cell], delays: Delays) -> list[list[Arc]]:
    """What cells put through without a clock: each level's sources are no results of its own or of later ones."""
    leaving: dict[Net, list[Arc]] = defaultdict(list)
    arriving: dict[Net, int] = defaultdict(int)
    for cell in cells:
        for arc in _through(cell, delays):
            leaving[arc.source].append(arc)
            arriving[arc.result] += 1
    ready = [net for net in leaving if net not in arriving]
    levels = []
    while ready:
        level = [arc for net in ready for arc in leaving[net]]
        ready = []
        for arc in level:
            arriving[arc.result] -= 1
            if not arriving[arc.result] and arc.result in leaving:
                ready.append(arc.result)
        levels.append(level)
    return levels


def _through(cell: Cell, delays: Delays) -> Iterable[Arc]:
    for port, net in _inputs(cell):
        for output, result in cell.outputs.items():
            match cell.kind, port, output:
                case "TRELLIS_COMB", "FCI", "FCO":
                    ns = delays.carry
                case "TRELLIS_COMB", "FCI", "F":
                    ns = delays.out_of_carry
                case "TRELLIS_COMB", _, "FCO":
                    ns = delays.into_carry
                case "TRELLIS_COMB", _, _:
                    ns = delays.lut
                case "MULT18X18D", _, _:
                    ns = delays.multiplier
                case "TRELLIS_RAMW", _, _:
                    ns = 0.0
                case _:
                    continue
            yield Arc(net, cell, port, result, ns)


def _inputs(cell: Cell) -> list[tuple[str, Net]]:
    """Those that an output depends on directly, or that a clock takes; of LUT RAM the reading ones."""
    return [
        (port, net)
        for port, net in cell.ports.items()
        if port not in cell.outputs and port not in CLOCKS and port not in RAM_WRITE
    ]


def _starts(cells: Iterable[Cell], clock: Net, delays: Delays) -> tuple[list[Net], list[float]]:
    nets = [
        (net, _clock_to_output(cell, port, delays))
        for cell in cells
        if cell.kind in CLOCKED
        for port, net in cell.outputs.items()
        if _clock(cell, port) == clock
    ]
    return [net for net, _ in nets], [ns for _, ns in nets]


def _clock_to_output(cell: Cell, port: str, delays: Delays) -> float:
    if cell.kind == "TRELLIS_FF":
        return delays.register
    return delays.output_register if cell.parameters.get(f"REGMODE_{port[2]}") == "OUTREG" else delays.block_ram


def _ends(cells: Iterable[Cell], clock: Net) -> list[Arc]:
    arcs = []
    for cell in cells:
        if cell.kind in CLOCKED:
            arcs += [Arc(net, cell, port) for port, net in _inputs(cell) if _clock(cell, port) == clock]
        elif cell.ports.get("WCK") == clock:
            arcs += [Arc(net, cell, port) for port, net in cell.ports.items() if port in RAM_WRITE]
    return arcs


def _clock(cell: Cell, port: str) -> Net | None:
    """Of a block RAM: that of the port's side."""
    return cell.ports.get("CLK" if cell.kind == "TRELLIS_FF" else f"CLK{port.rstrip('0123456789')[-1]}")
