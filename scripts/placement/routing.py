# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From a design that nextpnr has placed (`--no-route --write`) to one that it can route, or to a better start for its placer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from scripts.placement.relieve import relieve

PASSES = 12  # of relief, before a design is routed
PASSES_OF_RAMS = 4  # after which block RAMs hardly move
# router2's price of a present conflict rises by 1 a round, not by 2, which sends nets on detours that make new ones; and a net
# may leave the bounds of its ends by six tiles, not by three.
ROUTER2 = {"currCongWeightMult": "1.0", "bbMargin/x": f"{6:032b}", "bbMargin/y": f"{6:032b}"}
WANTED = re.compile(r"Max frequency for clock +'(\S+)': .* at ([\d.]+) MHz\)")


def relieved(placed: Path, log: Path, options: Sequence[str | Path], seed: int) -> list[str | Path]:
    """nextpnr's options for the design with its cells elsewhere; files are put beside `placed`.

    `log` and `options` are those of the placing.
    """
    design, clocks = placed.with_name("relieved.json"), placed.with_name("clocks.sdc")
    # Its constraints are not in what nextpnr has written.
    wanted = periods(log.read_text())
    clocks.write_text("".join(f"create_clock -period {ns:g} [get_nets {{{net}}}]\n" for net, ns in wanted.items()))
    there = relieve(placed, grade(options), wanted, seed, PASSES)
    there.settings.update({f"router2/{name}": value for name, value in ROUTER2.items()})
    there.write(design)
    return ["--json", design, "--no-pack", "--no-place", "--sdc", clocks]


def settle(netlist: Path, placed: Path, log: Path, options: Sequence[str | Path], settled: Path) -> None:
    """Writes the netlist with each block RAM held where relief has moved it, to be placed again around them.

    nextpnr's analytical placer takes block RAMs to the nearest sites late, far from where it had them among their logic.
    `placed`, `log` and `options` are of a placing of the netlist.
    """
    design = relieve(placed, grade(options), periods(log.read_text()), 1, PASSES_OF_RAMS)
    written = json.loads(netlist.read_text())
    top = max(written["modules"].values(), key=lambda module: len(module["cells"]))
    for ram in design.of("DP16KD"):
        top["cells"][ram.name].setdefault("attributes", {})["BEL"] = ram.bel
    settled.write_text(json.dumps(written))


def sources() -> list[str]:
    """What relief is made of, for names under which its results are kept."""
    modules = sorted(Path(__file__).parent.glob("*.py"))
    return [module.read_text() for module in modules if not module.name.startswith("test_")]


def periods(log: str) -> dict[str, float]:
    """ns, by the clock's net, that nextpnr placed for, from its estimate; its report has only those of a routed design."""
    return {net: 1000 / float(mhz) for net, mhz in WANTED.findall(log)}


def grade(options: Sequence[str | Path]) -> str:
    """As nextpnr's database names it: of an LFE5UM5G there is one."""
    words = list(map(str, options))
    return "8_5G" if any(word.startswith("--um5g") for word in words) else words[words.index("--speed") + 1]
