# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Holds a netlist's block RAMs where relief has moved them in a first placing, to be placed again around them.

nextpnr's analytical placer takes block RAMs to the nearest sites late, far from where it had them among their logic.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from scripts.placement.design import top
from scripts.placement.relieve import relieve
from scripts.placement.routing import grade, periods

PASSES = 4  # of relief: of its result only block RAMs stay


def settle(netlist: Path, placed: Path, log: Path, options: Sequence[str | Path], settled: Path) -> None:
    """Writes the netlist with a site for each block RAM. `placed`, `log` and `options` are of a placing of it."""
    design = relieve(placed, grade(options), periods(log.read_text()), 1, PASSES)
    written = json.loads(netlist.read_text())
    cells = top(written)["cells"]
    for ram in design.of("DP16KD"):
        cells[ram.name].setdefault("attributes", {})["BEL"] = ram.bel
    settled.write_text(json.dumps(written))
