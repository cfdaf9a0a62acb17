# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The steps from Verilog to a .bit, and into the board; each keeps what it made for the next call."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.ecp5.bitstream.board import ROOT, Board, BoardRefused
from scripts.ecp5.fmax.tools import netlist_hash, run, version
from scripts.ecp5.fmax.tools import require as require
from scripts.ecp5.netlist.finish import finish
from scripts.ecp5.placement.annealing import PLACING, annealed, sources
from scripts.ecp5.placement.routing import route

TOOLS = ("yosys", "nextpnr-ecp5", "ecppack")


def home(board: Board) -> Path:
    place = Path("build") / "bitstream" / board.name  # relative: paths get into Yosys's attributes
    (ROOT / place).mkdir(parents=True, exist_ok=True)
    return place


def elaborate(board: Board) -> Path:
    place = home(board)
    subprocess.run(["scripts/rtl.sh", "elaborate", board.preset, place, board.top], cwd=ROOT, check=True)
    return place / f"{board.top}.v"


def synthesise(board: Board, verilog: Path) -> Path:
    script = f"read_verilog {verilog}; synth_ecp5 -top {board.top}"
    netlist = home(board) / f"netlist-{netlist_hash(script, verilog)}.json"
    if not (ROOT / netlist).exists():
        unfinished, log = home(board) / "unfinished.json", home(board) / "yosys.log"
        run("Yosys", log, "yosys", "-q", "-l", log, "-p", f"{script} -json {unfinished}")
        finish(ROOT / unfinished)
        (ROOT / unfinished).rename(ROOT / netlist)
    return netlist


@dataclass(frozen=True)
class Placed:
    """Files that nextpnr makes with one seed."""

    config: Path  # for ecppack
    report: Path  # clocks
    log: Path  # packing and placing
    unrouted: Path  # the design, placed, of a board that is annealed before it is routed


def placement(board: Board, netlist: Path, seed: int) -> Placed:
    """The files' names; nothing is made."""
    inputs = [str(_options(board, seed)), version("nextpnr-ecp5"), netlist.name, board.constraints()]
    inputs += PLACING if board.annealed else ()
    placed = home(board) / f"placed-{_hash(inputs)}"
    routed = home(board) / f"annealed-{_hash(inputs + sources())}" if board.annealed else placed
    return Placed(*map(Path, (f"{routed}.config", f"{routed}.json", f"{placed}.log", f"{placed}.unrouted.json")))


def _hash(inputs: list[str]) -> str:
    return hashlib.sha256(repr(inputs).encode()).hexdigest()[:16]


def place_and_route(board: Board, netlist: Path, seed: int) -> Placed:
    placed = placement(board, netlist, seed)
    if not (ROOT / placed.report).exists():
        (ROOT / _constraints(board)).write_text(board.constraints())
        unfinished = placed.report.with_suffix(".unfinished")
        design: list[str | Path] = ["--json", netlist, *_options(board, seed), "--lpf", _constraints(board)]
        routed: list[str | Path] = ["--textcfg", placed.config, "--report", unfinished]
        if board.annealed:
            if not (ROOT / placed.unrouted).exists():
                unwritten = home(board) / "unfinished.json"
                nextpnr(placed.log, *design, *PLACING, "--no-route", "--write", unwritten)
                (ROOT / unwritten).rename(ROOT / placed.unrouted)
            options = _options(board, seed)
            clocks, elsewhere = annealed(ROOT / placed.unrouted, ROOT / placed.log, options, seed)
            route(nextpnr, placed.report.with_suffix(".log"), clocks, elsewhere, options, routed)
        else:
            nextpnr(placed.log, *design, *routed)
        (ROOT / unfinished).rename(ROOT / placed.report)
    return placed


def nextpnr(log: Path, *options: str | Path, rounds: int | None = None) -> None:
    run("nextpnr", log, "nextpnr-ecp5", *options, "--log", log, "-q", rounds=rounds)


def _constraints(board: Board) -> Path:
    return home(board) / f"{board.name}.lpf"


def _options(board: Board, seed: int) -> list[str | Path]:
    # The report has every missed clock; nextpnr would stop at the first.
    return [*board.nextpnr, "--seed", str(seed), "--timing-allow-fail"]


def pack(config: Path, bit: Path) -> None:
    log = bit.with_name("ecppack.log")
    run("ecppack", log, "ecppack", "--compress", "--input", config, "--bit", bit)


def program(board: Board) -> int:
    """Into the FPGA's own memory, until the power goes."""
    bit = home(board) / f"{board.name}.bit"
    if not (ROOT / bit).exists():
        raise BoardRefused(f"{bit} is not there: make bitstream BOARD={board.name}")
    try:
        return subprocess.run(["openFPGALoader", *board.programmer, bit], cwd=ROOT, check=False).returncode
    except FileNotFoundError:
        raise BoardRefused(
            "openFPGALoader is missing: apt install openfpgaloader, or github.com/trabucayre/openFPGALoader"
        ) from None
