# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From a design that nextpnr has placed (`--no-route --write`) to one that it can route in time: annealed in between.

nextpnr's placers look at the length of wires and, by delays that are too small, at timing; not at how many wires go over a place,
and analytical ones find rows for block RAMs late. A design that fills most of an ECP5 then has places that ask for three times
the mean, and router2 ends with nets that go round them in ever wider circles. `anneal/` moves everything but multipliers, PLLs
and pins. docs/decisions/annealing-between-placing-and-routing.md
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts.failure import RoundsOver, ToolFailed
from sim.cache import BuildFailed
from sim.compiler import OPTIMISE, WARNINGS, program

# How nextpnr begins where paths have time to spare: without a look at timing its wires are shorter, and annealing has that look.
PLACING = ("--placer", "static", "--no-tmdriv")
SOURCES = sorted((Path(__file__).parent / "anneal").glob("*.cpp"))
# router2's price of a present conflict rises by 1 a round, not by 2, which sends nets on detours that make new ones; and a net
# may leave the bounds of its ends by six tiles, not by three.
SETTINGS = {"router2/currCongWeightMult": "1.0", "router2/bbMargin/x": f"{6:032b}", "router2/bbMargin/y": f"{6:032b}"}
SETTINGS |= {"timing_driven": f"{1:032b}"}  # nextpnr keeps what it has placed with
# Of a clock's period that router2 may give a path: it does not count what a wire's fan-out adds to its delay.
SHARE = 0.95
ROUNDS = 200  # of router2: with all paths in time it has ended after 30 to 188; then they may take
LONGER = (1.03, 1.08)  # times the period
PERIOD = re.compile(r"(?<=-period )[\d.]+")
ANNEALED = ".annealed.json"
WANTED = re.compile(r"Max frequency for clock +'(\S+)': .* at ([\d.]+) MHz\)")


def annealed(
    placed: Path, log: Path, options: Sequence[str | Path], seed: int, share: float = SHARE
) -> tuple[Path, list[str | Path]]:
    """Periods to route for, and nextpnr's options for the design with its cells elsewhere; files are put beside `placed`.

    `log` and `options` are those of the placing. It is to be routed for that share of the clocks' periods.
    """
    design, clocks = placed.with_suffix(ANNEALED), placed.with_suffix(".sdc")
    # Its constraints are not in what nextpnr has written.
    wanted = periods(log.read_text())
    lines = [f"create_clock -period {ns * share:g} [get_nets {{{net}}}]\n" for net, ns in wanted.items()]
    clocks.write_text("".join(lines))
    begun = time.monotonic()
    figures = anneal(placed, design, grade(options), wanted, seed, SETTINGS)
    print(
        f"  annealing ({time.monotonic() - begun:.0f} s)\n  {figures[0].strip()}\n  {figures[-1].strip()}", flush=True
    )
    return clocks, ["--json", design, "--no-pack", "--no-place"]


def route(nextpnr: Callable[..., None], log: Path, clocks: Path, *options: str | Path) -> None:
    """Until each path is in time; where that can't be had, in more time; where not that either, as quick as it comes.

    `clocks` are the periods, as SDC.
    """
    wanted = clocks.read_text()
    options = (*options, "--sdc", clocks)
    for longer in (1, *LONGER):
        clocks.write_text(_stretched(wanted, longer))
        try:
            return nextpnr(log, *options, "--tmg-ripup", rounds=ROUNDS)
        except RoundsOver:
            print(f"  paths can't all be in {longer:g} times the period: routed anew")
    return nextpnr(log, *options)


def _stretched(clocks: str, by: float) -> str:
    return PERIOD.sub(lambda found: f"{float(found[0]) * by:g}", clocks)


def as_wanted(report: Path, placing: Path) -> None:
    """nextpnr's report with the clocks that were wanted by the log of its placing, not those that were routed for."""
    told, wanted = json.loads(report.read_text()), periods(placing.read_text())
    for name, clock in told["fmax"].items():
        clock["constraint"] = round(1000 / wanted[name], 3)
    report.write_text(json.dumps(told))


def anneal(
    placed: Path, design: Path, grade: str, periods: dict[str, float], seed: int, settings: dict[str, str] | None = None
) -> list[str]:
    """Writes the design with its cells elsewhere, and nextpnr's settings with these; returns what it tells of each temperature.

    For a device's speed grade; `periods`, in ns, are by the name of the clock's net.
    """
    words = [str(binary()), str(placed), str(design), "--grade", grade, "--seed", str(seed)]
    for option, values in (("--period", {net: f"{ns:.9g}" for net, ns in periods.items()}), ("--set", settings or {})):
        words += [word for name, value in values.items() for word in (option, f"{name}={value}")]
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    if done.returncode:
        raise ToolFailed(done.stderr.strip())
    return done.stdout.splitlines()


def binary() -> Path:
    """Compiled if need be."""
    flags = ["-std=c++20", *OPTIMISE, *WARNINGS]
    try:
        return program("anneal", "anneal", SOURCES, flags, [], [], "") / "anneal"
    except BuildFailed as failure:
        raise ToolFailed(str(failure)) from None


def sources() -> list[str]:
    """What annealing is made of, for names under which its results are kept."""
    texts = [*SOURCES, *sorted(SOURCES[0].parent.glob("*.h")), Path(__file__)]
    return [text.read_text() for text in texts]


def periods(log: str) -> dict[str, float]:
    """ns, by the clock's net, that nextpnr placed for, from its estimate; its report has only those of a routed design."""
    return {net: 1000 / float(mhz) for net, mhz in WANTED.findall(log)}


def grade(options: Sequence[str | Path]) -> str:
    """As nextpnr's database names it: of an LFE5UM5G there is one."""
    words = list(map(str, options))
    return "8_5G" if any(word.startswith("--um5g") for word in words) else words[words.index("--speed") + 1]
