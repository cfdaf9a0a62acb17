# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The steps from Verilog to a .bit, and into the board; each keeps what it made for the next call."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from scripts.bitstream.board import ROOT, Board, BoardRefused
from scripts.fmax.tools import require as require
from scripts.fmax.tools import run, version

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
    key = hashlib.sha256("\n".join((script, version("yosys"), (ROOT / verilog).read_text())).encode()).hexdigest()[:16]
    netlist = home(board) / f"netlist-{key}.json"
    if not (ROOT / netlist).exists():
        unfinished, log = home(board) / "unfinished.json", home(board) / "yosys.log"
        run("Yosys", log, "yosys", "-q", "-l", log, "-p", f"{script} -json {unfinished}")
        (ROOT / unfinished).rename(ROOT / netlist)
    return netlist


def place_and_route(board: Board, netlist: Path, seed: int, log: Path) -> tuple[Path, Path]:
    """nextpnr's configuration for ecppack, and its report of clocks."""
    constraints = home(board) / f"{board.name}.lpf"
    (ROOT / constraints).write_text(board.constraints())
    config, report = home(board) / "placed.config", home(board) / "placed.json"
    # A missed clock is told by the report, so that all of them are told.
    options: list[str | Path] = [*board.nextpnr, "--seed", str(seed), "--lpf", constraints, "--timing-allow-fail"]
    inputs = (str(options), version("nextpnr-ecp5"), netlist.name, board.constraints())
    mark, key = home(board) / "placed.key", hashlib.sha256("\n".join(inputs).encode()).hexdigest()
    if not (ROOT / mark).exists() or (ROOT / mark).read_text() != key:
        (ROOT / mark).unlink(missing_ok=True)
        outputs: list[str | Path] = ["--textcfg", config, "--report", report, "--log", log, "-q"]
        run("nextpnr", log, "nextpnr-ecp5", "--json", netlist, *options, *outputs)
        (ROOT / mark).write_text(key)
    return config, report


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
