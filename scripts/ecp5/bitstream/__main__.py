# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bitstream`, `make bitstream PROGRAM=1`: a board's design through Yosys, nextpnr-ecp5 and ecppack, and into it
by openFPGALoader.

It fails when a clock misses its frequency; then there is no .bit (docs/how-to/boards.md).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.ecp5.bitstream import flow
from scripts.ecp5.bitstream.board import ROOT, Board, BoardRefused, load, with_core
from scripts.ecp5.bitstream.judge import Clock, Use, clocks, overflow, uses
from scripts.ecp5.fmax.report import cells
from scripts.ecp5.fmax.tools import ToolFailed
from scripts.synth.estimate import on_board, shown
from scripts.synth.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bitstream", description=__doc__)
    parser.add_argument("board")
    parser.add_argument("--seed", type=int, help="of nextpnr, this one alone in place of the board's")
    parser.add_argument("--policies", default="", help="of the core in place of the board's: standard,rapid;reno,cubic")
    parser.add_argument("--flows", type=int, help="of the core in place of the board's")
    parser.add_argument("--program", action="store_true", help="load what was built into the board")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    try:
        board = with_core(load(arguments.board), arguments.policies, arguments.flows)
        if arguments.program:
            return flow.program(board)
        return build(board, board.seeds if arguments.seed is None else [arguments.seed])
    except (BoardRefused, ToolFailed) as refused:
        print(refused, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:
        return 1  # it has said why


def build(board: Board, seeds: list[int]) -> int:
    """The .bit of the first seed that meets the clocks."""
    for tool in flow.TOOLS:
        flow.require(tool)
    print(f"{board.name} ({board.device}): {board.what}")
    if area := on_board(board.preset) if board.has_core else None:
        print(shown(area))
    bit = flow.home(board) / f"{board.name}.bit"
    netlist = flow.synthesise(board, flow.elaborate(board))
    bit.unlink(missing_ok=True)
    for seed in seeds:
        placed = _place(board, netlist, seed)
        found, used = clocks(json.loads(placed.report.read_text())), uses(placed.log.read_text())
        print(f"  seed {seed}: " + ", ".join(f"{use.part} {use.used:,}/{use.there:,}" for use in used))
        for clock in found:
            print(f"    {clock.name}: {clock.reached_mhz:.1f} MHz, {clock.wanted_mhz:g} wanted")
        _record(board, netlist, seed, found, used)
        missed = [clock for clock in found if clock.missed]
        if not missed:
            flow.pack(placed.config, bit)
            print(f"{bit} ({bit.stat().st_size:,} bytes)")
            return 0
        for clock in missed:
            print(
                f"{clock.name} reaches {clock.reached_mhz:.2f} MHz, not {clock.wanted_mhz:g}: no bitstream by seed {seed}",
                file=sys.stderr,
            )
    return 1


def _place(board: Board, netlist: Path, seed: int) -> flow.Placed:
    try:
        return flow.place_and_route(board, netlist, seed)
    except ToolFailed:
        log = flow.placement(board, netlist, seed).log
        line = overflow(log.read_text() if log.exists() else "", board.device)
        if line is None:
            raise
        raise BoardRefused(line) from None


def _record(board: Board, netlist: Path, seed: int, found: list[Clock], used: list[Use]) -> None:
    file = ROOT / "build" / "reports" / f"bitstream-{board.name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "board": board.name,
        "device": board.device,
        "contents": board.what,
        "preset": board.preset,
        **_core(board),
        "area": TARGETS["ecp5"].used(cells(json.loads((ROOT / netlist).read_text()), within="")),
        "seed": seed,
        "clocks": [asdict(clock) | {"missed": clock.missed} for clock in found],
        "used": [asdict(use) for use in used],
    }
    file.write_text(json.dumps(record, indent=1) + "\n")


def _core(board: Board) -> dict[str, Any]:
    """Policies and flows of the core in the build."""
    if not board.has_core:
        return {"policies": None, "flows": None}
    layout = json.loads((ROOT / flow.home(board) / "downbeat_layout.json").read_text())
    families = {"startup": "StartupPolicy", "steady": "SteadyPolicy"}
    policies = {family: list(layout["policies"][name]) for family, name in families.items()}
    return {"policies": policies, "flows": layout["numbers"]["flows"]}


if __name__ == "__main__":
    sys.exit(main())
