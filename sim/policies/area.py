# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a policy alone takes of an ECP5 and how fast it is: its bench's room in the harness of `make fmax`, kept by content."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from scripts.fmax.report import size, timing
from scripts.fmax.tools import ROOT, place_and_route, synthesise

PLACE = "build/fmax/rtl/policies"
GRADE, SEED = 6, 1
CARRIED_BY = 2  # a cell of a carry chain takes the place of so many LUT4s


def areas(names: Sequence[str]) -> dict[str, dict[str, float]]:
    """`lut`, `ff`, `dsp` and `fmax_mhz` of each policy."""
    rooms = {name: f"FmaxPolicy{name.capitalize()}" for name in names}
    subprocess.run(["scripts/rtl.sh", "elaborate", "default", PLACE, *rooms.values()], cwd=ROOT, check=True)
    found = {}
    for name, room in rooms.items():
        netlist = synthesise((ROOT / PLACE / f"{room}.v").relative_to(ROOT))
        used = size(json.loads((ROOT / netlist).read_text()))
        speed = timing(json.loads((ROOT / place_and_route(netlist, GRADE, SEED)).read_text()))
        lut = used["lut4"] + CARRIED_BY * used["carry"]
        found[name] = {"lut": lut, "ff": used["ff"], "dsp": used["mult18"], "fmax_mhz": speed.fmax_mhz}
    return found
