# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From a design that nextpnr has placed (`--no-route --write`) to one that it can route."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from scripts.placement.relieve import relieve

WANTED = re.compile(r"Max frequency for clock +'(\S+)': .* at ([\d.]+) MHz\)")


def relieved(placed: Path, log: Path, options: Sequence[str | Path], seed: int) -> list[str | Path]:
    """nextpnr's options for the design with its cells elsewhere; files are put beside `placed`.

    `log` and `options` are those of the placing.
    """
    design, clocks = placed.with_name("relieved.json"), placed.with_name("clocks.sdc")
    # Its constraints are not in what nextpnr has written.
    wanted = periods(log.read_text())
    clocks.write_text("".join(f"create_clock -period {ns:g} [get_nets {{{net}}}]\n" for net, ns in wanted.items()))
    relieve(placed, design, grade(options), wanted, seed)
    return ["--json", design, "--no-pack", "--no-place", "--sdc", clocks]


def periods(log: str) -> dict[str, float]:
    """ns, by the clock's net, that nextpnr placed for, from its estimate; its report has only those of a routed design."""
    return {net: 1000 / float(mhz) for net, mhz in WANTED.findall(log)}


def grade(options: Sequence[str | Path]) -> str:
    """As nextpnr's database names it: of an LFE5UM5G there is one."""
    words = list(map(str, options))
    return "8_5G" if any(word.startswith("--um5g") for word in words) else words[words.index("--speed") + 1]
