# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A build for a board as a file, constraints/NAME/board.toml; and nextpnr's constraints (LPF) made of it.

It has device, pins by function and clocks, or names the board whose file has them, and what is in this build.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.synth.estimate import on_board, refusal

ROOT = Path(__file__).resolve().parents[3]
BOARDS = ROOT / "constraints"


class BoardRefused(Exception):
    """This build is not possible; one line that says what to change."""


@dataclass(frozen=True)
class Function:
    """Pins that serve one purpose, and their electrical side."""

    name: str
    sites: dict[str, str]  # port of the top: ball of the package
    options: dict[str, str]  # IO_TYPE, SLEWRATE, ...


@dataclass(frozen=True)
class Board:
    name: str
    board: str  # as the RTL names it: several builds may be for one
    inside: str  # as BoardContents.scala names it
    preset: str
    what: str  # is in the build, for people
    device: str
    nextpnr: list[str]
    annealed: bool  # between placing and routing (scripts/ecp5/placement)
    seeds: list[int]  # for nextpnr, tried in this order until the clocks are met
    programmer: list[str]  # options of openFPGALoader
    clocks: dict[str, float]  # MHz, by port
    functions: list[Function]

    @property
    def has_core(self) -> bool:
        return self.inside == "traffic"

    @property
    def top(self) -> str:
        """The module, as BoardTop.scala names it."""
        return f"Board_{self.board.replace('-', '_')}_{self.inside}"

    def constraints(self) -> str:
        lines = ["BLOCK RESETPATHS;", "BLOCK ASYNCPATHS;"]
        for function in self.functions:
            lines.append(f"# {function.name.replace('_', ' ')}")
            options = " ".join(f"{key}={value}" for key, value in function.options.items())
            for port, site in function.sites.items():
                lines += [f'LOCATE COMP "{port}" SITE "{site}";', f'IOBUF PORT "{port}" {options};']
        lines += [f'FREQUENCY PORT "{port}" {mhz:g} MHZ;' for port, mhz in self.clocks.items()]
        return "\n".join(lines) + "\n"


OPTIONS = {"io_type": "IO_TYPE", "slew": "SLEWRATE", "pull": "PULLMODE"}


def names() -> list[str]:
    return sorted(path.parent.name for path in BOARDS.glob("*/board.toml"))


def load(name: str) -> Board:
    if name not in names():
        raise BoardRefused(f"no board '{name}'; there are: {', '.join(names())} (make bitstream BOARD=name)")
    data = _read(name)
    board = data.get("board", name)
    if board != name:
        data = _read(board) | data
    functions = [
        Function(function, pins["sites"], {OPTIONS[key]: value for key, value in pins.items() if key != "sites"})
        for function, pins in data["pins"].items()
    ]
    device, build = data["device"], data["build"]
    return Board(
        name,
        board,
        build["inside"],
        build["preset"],
        build["what"],
        device["name"],
        device["nextpnr"] + build["nextpnr"],
        build.get("annealed", False),
        build["seeds"],
        device["programmer"],
        data["clocks"],
        functions,
    )


def with_core(board: Board, policies: str, flows: int | None) -> Board:
    """The board with these policies and flows, if they fit it. The area is estimated before anything is built."""
    given = {"POLICIES": f",policies={policies}" if policies else "", "FLOWS": f",flows={flows}" if flows else ""}
    changes = "".join(given.values())
    if not changes:
        return board
    names = " ".join(name for name, change in given.items() if change)
    if not board.has_core:
        raise BoardRefused(f"{names}: {board.name} has no core in it (make bitstream BOARD=ecpix5-tcp)")
    area = on_board(board.preset + changes)
    if area and (line := refusal(area, board.preset + changes)):
        raise BoardRefused(f"{names}: {line}")
    return replace(board, preset=board.preset + changes)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((BOARDS / name / "board.toml").read_text())
