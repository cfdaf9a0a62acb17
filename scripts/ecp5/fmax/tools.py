# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Yosys and nextpnr-ecp5 on a module in its harness, each kept by the hash of what it was given."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

from scripts.ecp5.fmax.report import LUTS, cells
from scripts.ecp5.netlist import finish
from scripts.ecp5.placement.annealing import ANNEALED, annealed, sources
from scripts.ecp5.placement.routing import route
from scripts.failure import RoundsOver
from scripts.failure import ToolFailed as ToolFailed

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path("build/fmax")  # relative: paths get into Yosys's attributes
ECP5 = "synth_ecp5 -top {top} -json"
# By speed grade, as nextpnr's database names them; an LFE5UM5G-85F has one of its own. Of all the largest device.
DEVICES = {
    "6": ("--85k", "--speed", "6"),
    "7": ("--85k", "--speed", "7"),
    "8": ("--85k", "--speed", "8"),
    "8_5G": ("--um5g-85k", "--speed", "8"),
}
PACKAGE = "CABGA756"
# Asked for somewhat more than is hoped for: nextpnr works no harder than that.
TARGET_MHZ = {"6": 110, "7": 125, "8": 140, "8_5G": 160}

# A round of router2, or a thousand connections of router1.
ROUND = re.compile(r"^Info: +(?:iter=\d+ |\d+ \|)", re.MULTILINE)

LARGE = 35_000  # LUTs, with the harness's, from which on a module is annealed before it is routed: else the routers do not end
# That they are routed for: router1 has wires up again until they meet that. Only 8_5G's has been tried.
LARGE_MHZ = {"6": 88, "7": 96, "8": 105, "8_5G": 127}
AHEAD = 1.16  # factor on that clock for placing and annealing


def home(preset: str) -> Path:
    """The directory of a build's Verilog. A semicolon would end a command of Yosys."""
    return BUILD / "rtl" / preset.replace(";", "+")


def elaborate(module: str, preset: str) -> Path:
    """The module's Verilog; not made again while it is younger than what it is made from."""
    place = home(preset)
    verilog, done = place / f"Fmax{module}.v", ROOT / place / f"Fmax{module}.stamp"
    made_from = [ROOT / "build/scala.stamp", ROOT / "build/policies/stamp"]
    if not all(_is_younger(done, source) for source in made_from) or not (ROOT / verilog).exists():
        subprocess.run(["scripts/rtl.sh", "elaborate", preset, place, f"Fmax{module}"], cwd=ROOT, check=True)
        done.touch()
    return verilog


def _is_younger(file: Path, source: Path) -> bool:
    return file.exists() and source.exists() and source.stat().st_mtime < file.stat().st_mtime


def netlist_hash(script: str, verilog: Path) -> str:
    """A hash of all that a netlist is made from."""
    passes = finish.sources() if _is_ecp5(script) else ()
    made_from = (script, version("yosys"), *passes, (ROOT / verilog).read_text())
    return hashlib.sha256("\n".join(made_from).encode()).hexdigest()[:16]


def _is_ecp5(script: str) -> bool:
    """The netlist passes of scripts/ecp5/netlist know the cells of this family alone."""
    return "synth_ecp5" in script


def synthesise(verilog: Path, commands: str = ECP5) -> Path:
    """The netlist by Yosys's commands, which its name follows, in a directory that also takes what is placed from
    it."""
    top = verilog.stem
    script = f"read_verilog {verilog}; {commands.format(top=top)}"
    home = BUILD / top.removeprefix("Fmax") / netlist_hash(script.removesuffix(" -json"), verilog)
    netlist = home / "netlist.json"
    if not (ROOT / netlist).exists():
        (ROOT / home).mkdir(parents=True, exist_ok=True)
        unfinished = home / "unfinished.json"
        run("Yosys", home / "yosys.log", "yosys", "-q", "-l", home / "yosys.log", "-p", f"{script} {unfinished}")
        if _is_ecp5(script):
            finish.finish(ROOT / unfinished)
        (ROOT / unfinished).rename(ROOT / netlist)
    return netlist


def place_and_route(netlist: Path, grade: str, seed: int) -> Path:
    """nextpnr's report."""
    report, options = _placement(netlist, grade, seed)
    if not (ROOT / report).exists():
        unfinished = report.with_suffix(".unfinished")
        log = report.with_suffix(".log")
        result: list[str | Path] = ["--report", unfinished]
        if _is_large(netlist):
            unrouted, placing = _placed(netlist, report, options)
            clocks, design = annealed(ROOT / unrouted, ROOT / placing, options, seed, AHEAD)
            route(_nextpnr, log, clocks, design, options, result)
            for made in (unrouted, unrouted.with_suffix(ANNEALED)):
                (ROOT / made).unlink()
        else:
            _nextpnr(log, "--json", netlist, *options, *result)
        (ROOT / unfinished).rename(ROOT / report)
    return report


def routed(netlist: Path, grade: str, seed: int) -> Path | None:
    """nextpnr's report, if this netlist has been routed already."""
    report, _ = _placement(netlist, grade, seed)
    return report if (ROOT / report).exists() else None


def _placed(netlist: Path, result: Path, options: list[str]) -> tuple[Path, Path]:
    """The design as nextpnr has placed it, and its log, in files named after what will be made of it."""
    unrouted, placing = result.with_suffix(".unrouted"), result.with_suffix(".placing.log")
    _nextpnr(placing, "--json", netlist, *options, "--no-route", "--write", unrouted)
    return unrouted, placing


def _nextpnr(log: Path, *options: str | Path, rounds: int | None = None) -> None:
    run("nextpnr", log, "nextpnr-ecp5", *options, "--log", log, "-q", rounds=rounds)


@cache
def _is_large(netlist: Path) -> bool:
    used = cells(json.loads((ROOT / netlist).read_text()), within="")
    return sum(each * used[cell] for cell, each in LUTS.items()) >= LARGE


def _placement(netlist: Path, grade: str, seed: int) -> tuple[Path, list[str]]:
    """The report's file, and nextpnr's options."""
    mhz = LARGE_MHZ[grade] * AHEAD if _is_large(netlist) else TARGET_MHZ[grade]
    options = [*DEVICES[grade], "--package", PACKAGE, "--freq", f"{mhz:g}", "--seed", str(seed)]
    # router1 takes longer than router2, which leads nets of high fan-out on detours of 10 ns
    # (docs/how-to/synthesize.md).
    options += ["--placer", "static", "--router", "router2"] if _is_large(netlist) else ["--router", "router1"]
    options += ["--lpf-allow-unconstrained", "--timing-allow-fail"]
    made_by = [str(options), version("nextpnr-ecp5")]
    if _is_large(netlist):
        made_by += sources()
    key = hashlib.sha256("\n".join(made_by).encode()).hexdigest()[:8]
    return netlist.parent / f"grade{grade}-seed{seed}-{key}.json", options


def require(tool: str) -> str:
    """The tool's version; refused where there is none."""
    try:
        return version(tool)
    except (OSError, subprocess.CalledProcessError):
        raise ToolFailed(
            f"{tool} is missing: `make setup` installs one, or put yours on PATH (docs/reference/toolchain.md)"
        ) from None


@cache
def version(tool: str) -> str:
    done = subprocess.run([tool, "--version"], text=True, capture_output=True, check=True)
    return (done.stdout + done.stderr).strip()


def headline(log: str) -> str:
    """A tool's step, from its log so far."""
    # Yosys numbers its passes, `2.17.3. Executing OPT_DFF pass (...)`; nextpnr announces iterations, and router1 what
    # is left.
    found = re.findall(
        r"^(?:\d+(?:\.\d+)*\. Executing (\w+ pass)|Info: +(?:at )?(iter(?:ation #|=)\d+)"
        r"|Info: (?:Running )?([\w ]*(?:plac|rout)[\w ]*)|Info: +\d+ \|(?:[ \d]*\|){2} *(\d+)\|)",
        log,
        re.MULTILINE,
    )
    if not found:
        return "reading"
    *named, left = found[-1]
    return f"{left} connections left" if left else "".join(named).strip()


def run(name: str, log: Path, *command: str | Path, rounds: int | None = None) -> None:
    """One line for people, on a terminal with where the tool is: these take minutes. Of tools side by side only the
    end.

    A router is ended after so many rounds: lines that it tells its progress by.
    """
    started, ended = time.monotonic(), False
    alone = threading.current_thread() is threading.main_thread()
    moves = alone and sys.stdout.isatty()
    (ROOT / log).unlink(missing_ok=True)  # an earlier run's says nothing of this one
    if alone:
        print(f"  {name}", end="", flush=True)
    with subprocess.Popen(
        [_from_root(word) for word in command], cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as tool:
        while True:
            try:
                _, errors = tool.communicate(timeout=1)
                break
            except subprocess.TimeoutExpired:
                if not (moves or rounds) or not (ROOT / log).exists():
                    continue
                text = (ROOT / log).read_text(errors="replace")
                if moves:
                    where = headline(text)
                    print(f"\r\033[K  {name} ({time.monotonic() - started:.0f} s, {where})", end="", flush=True)
                if rounds and len(ROUND.findall(text)) > rounds:
                    tool.kill()
                    ended = True
    if moves:
        print("\r\033[K", end="")
    if ended:
        raise RoundsOver(f"{name} had not ended after {rounds} rounds; {log}")
    begun = "" if alone and not moves else f"  {name}"
    print(f"{begun} ({time.monotonic() - started:.0f} s)", flush=True)
    if tool.returncode:
        raise ToolFailed(f"{name} failed; {log} and:\n{errors[-2000:]}")


def _from_root(word: str | Path) -> str:
    """A tool of WebAssembly has a /tmp of its own, where a checkout in ours is not; its working directory it has."""
    return str(word.relative_to(ROOT) if isinstance(word, Path) and word.is_relative_to(ROOT) else word)
