# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What nextpnr's report (--report, JSON) says of the clock: its frequency, the longest path, and what the room takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# nextpnr's names of cells, and ours. A DPR16X4 is four LUT4s as memory and two that write it: it stands in `lut4` too.
RESOURCES = {"lut4": "TRELLIS_COMB", "ff": "TRELLIS_FF", "bram": "DP16KD", "mult18": "MULT18X18D"}
# Endings that Yosys puts on a net for each part of a cell: `_LUT4_Z_1_D`, `_L6MUX21_Z_SD`, `_CCU2C_S0_COUT`, ...
MAPPED = re.compile(r"_(?:TRELLIS_FF|LUT4|PFUMX|L6MUX21|CCU2C|TRELLIS_DPR16X4|DP16KD|MULT18X18D)_.*")


@dataclass(frozen=True)
class Step:
    """One delay of a path: through a cell, or along a net to the next cell."""

    kind: str  # clk-to-q, routing, logic, setup
    ns: float
    at_ns: float  # since the clock's edge
    net: str  # as in the RTL where Yosys kept the name; for a cell the net that it drives or, at the end, is driven by
    cell: str  # what the delay ends at: LUT4, carry, register, ...
    place: str  # X.../Y... in the device


@dataclass(frozen=True)
class Path:
    start: str  # the register
    end: str
    ns: float
    steps: list[Step]


@dataclass(frozen=True)
class Timing:
    fmax_mhz: float
    critical_path: Path
    resources: dict[str, int]


def parse(report: dict[str, Any]) -> Timing:
    clocks = report["fmax"]
    if len(clocks) != 1:
        raise ValueError(f"one clock expected, not {sorted(clocks)}")
    ((clock, figures),) = clocks.items()
    path = next(
        path
        for path in report["critical_paths"]
        if path["from"].split()[-1] == clock and path["to"].split()[-1] == clock
    )
    used = {name: int(report["utilization"].get(cell, {}).get("used", 0)) for name, cell in RESOURCES.items()}
    return Timing(float(figures["achieved"]), _path(path["path"]), used)


def rtl_name(net: str) -> str:
    """A net's name without what mapping added, and its bit."""
    bit = re.search(r"\[\d+\]$", net)
    return MAPPED.sub("", net.removesuffix(bit[0] if bit else "")) + (bit[0] if bit else "")


def _path(parts: list[dict[str, Any]]) -> Path:
    steps: list[Step] = []
    at = 0.0
    for part in parts:
        at += part["delay"]
        end = part["to"]
        net = part.get("net") or (steps[-1].net if steps else "")
        place = "/".join(f"{axis}{value}" for axis, value in zip("XY", end.get("loc", []), strict=False))
        steps.append(Step(part["type"], part["delay"], at, rtl_name(net), end["cell"], place))
    return Path(parts[0]["from"]["cell"], parts[-1]["to"]["cell"], at, steps)
