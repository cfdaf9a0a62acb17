# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From a design that nextpnr has placed (`--no-route --write`) to one that it can route."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from scripts.placement.relieve import relieve

PASSES = 12  # of relief, before a design is routed
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
