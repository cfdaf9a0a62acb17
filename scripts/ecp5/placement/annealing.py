# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From a design that nextpnr has placed (`--no-route --write`) to one that it can route in time: annealed in between.

nextpnr's placers look at the length of wires and, by delays that are too small, at timing; not at how many wires go
over a place, and analytical ones find rows for block RAMs late. A design that fills most of an ECP5 then has places
that ask for three times the mean, and router2 ends with nets that go round them in ever wider circles. `anneal/` moves
everything but multipliers, PLLs and pins.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.ecp5.placement import routing
from scripts.failure import ToolFailed
from sim.lib.cache import BuildFailed
from sim.lib.compiler import OPTIMISE, WARNINGS, program

# How nextpnr begins where paths have time to spare: without a look at timing its wires are shorter, and annealing has
# that look.
PLACING = ("--placer", "static", "--no-tmdriv")
SOURCES = sorted((Path(__file__).parent / "anneal").glob("*.cpp"))
# router2's price of a present conflict rises by 1 a round, not by 2, which sends nets on detours that make new ones;
# and a net may leave the bounds of its ends by six tiles, not by three.
SETTINGS = {"router2/currCongWeightMult": "1.0", "router2/bbMargin/x": f"{6:032b}", "router2/bbMargin/y": f"{6:032b}"}
SETTINGS |= {"timing_driven": f"{1:032b}"}  # nextpnr keeps what it has placed with
ANNEALED = ".annealed.json"
WANTED = re.compile(r"Max frequency for clock +'(\S+)': .* at ([\d.]+) MHz\)")


def annealed(placed: Path, log: Path, options: Sequence[str | Path], seed: int, longer: float = 1) -> tuple[Path, Path]:
    """Periods to route for, and the design with its cells elsewhere; both are put beside `placed`.

    `log` and `options` are those of the placing. It is to be routed for so many times the clocks' periods.
    """
    design, clocks = placed.with_suffix(ANNEALED), placed.with_suffix(".sdc")
    # Its constraints are not in what nextpnr has written.
    wanted = periods(log.read_text())
    lines = [f"create_clock -period {ns * longer:g} [get_nets {{{net}}}]\n" for net, ns in wanted.items()]
    clocks.write_text("".join(lines))
    begun = time.monotonic()
    figures = anneal(placed, design, grade(options), wanted, seed, SETTINGS)
    print(
        f"  annealing ({time.monotonic() - begun:.0f} s)\n  {figures[0].strip()}\n  {figures[-1].strip()}", flush=True
    )
    return clocks, design


def anneal(
    placed: Path, design: Path, grade: str, periods: dict[str, float], seed: int, settings: dict[str, str] | None = None
) -> list[str]:
    """Writes the design with its cells elsewhere, and nextpnr's settings with these; returns what it tells of each
    temperature.

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
    """The text of all that anneals and routes, for names under which results are kept."""
    texts = [*SOURCES, *sorted(SOURCES[0].parent.glob("*.h")), Path(__file__), Path(routing.__file__)]
    return [text.read_text() for text in texts]


def periods(log: str) -> dict[str, float]:
    """ns, by the clock's net, that nextpnr placed for, from its estimate; its report has only those of a routed
    design."""
    return {net: 1000 / float(mhz) for net, mhz in WANTED.findall(log)}


def grade(options: Sequence[str | Path]) -> str:
    """As nextpnr's database names it: of an LFE5UM5G there is one."""
    words = list(map(str, options))
    return "8_5G" if any(word.startswith("--um5g") for word in words) else words[words.index("--speed") + 1]
