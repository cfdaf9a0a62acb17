# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Area and clock of a policy alone in an ECP5: its bench's module, kept by content.

How fast it is says the harness of `make fmax`. How large it is says the module without it: the harness feeds a module
from a shift
register, and Yosys merges registers of the module that only pass something on with the next places of that.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.ecp5.fmax.report import CELLS, LUTS, size, timing
from scripts.ecp5.fmax.tools import ROOT, place_and_route, synthesise

PLACE = "build/fmax/rtl/policies"
GRADE, SEED = "6", 1


def areas(names: Sequence[str]) -> dict[str, dict[str, float]]:
    """`lut`, `ff`, `dsp` and `fmax_mhz` of each policy."""
    modules = {name: f"Policy{name.capitalize()}" for name in names}
    everything = [*modules.values(), *(f"Fmax{module}" for module in modules.values())]
    subprocess.run(["scripts/rtl.sh", "elaborate", "default", PLACE, *everything], cwd=ROOT, check=True)
    found = {}
    for name, module in modules.items():
        used = size(_read(synthesise(Path(PLACE) / f"{module}.v")), within="")
        harnessed = synthesise(Path(PLACE) / f"Fmax{module}.v")
        speed = timing(_read(place_and_route(harnessed, GRADE, SEED)))
        lut = sum(LUTS[CELLS[part]] * used[part] for part in ("lut4", "carry", "lut_ram"))
        found[name] = {"lut": lut, "ff": used["ff"], "dsp": used["mult18"], "fmax_mhz": speed.fmax_mhz}
    return found


def _read(path: Path) -> dict[str, Any]:
    text: dict[str, Any] = json.loads((ROOT / path).read_text())
    return text
