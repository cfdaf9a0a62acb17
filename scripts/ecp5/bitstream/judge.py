# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Judgement of nextpnr's report: does the design fit, and does every clock reach its frequency?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

PARTS = {
    "TRELLIS_COMB": "LUT4 (carries and LUT RAM counted)",
    "TRELLIS_FF": "flip-flops",
    "DP16KD": "block RAMs",
    "MULT18X18D": "multipliers",
    "EHXPLLL": "PLLs",
}
USED = re.compile(r"^Info:\s+(\w+):\s*(\d+)/\s*(\d+)\s+\d+%", re.MULTILINE)


@dataclass(frozen=True)
class Use:
    part: str  # as nextpnr calls it
    used: int
    there: int


@dataclass(frozen=True)
class Clock:
    name: str
    wanted_mhz: float
    reached_mhz: float

    @property
    def missed(self) -> bool:
        return self.reached_mhz < self.wanted_mhz


def uses(log: str) -> list[Use]:
    """The device's parts that the design uses: the first count in nextpnr's log."""
    found = {part: Use(part, int(used), int(there)) for part, used, there in reversed(USED.findall(log))}
    return [use for use in found.values() if use.used]


def overflow(log: str, device: str) -> str | None:
    """One line, if the design has more of something than the device."""
    over = [use for use in uses(log) if use.used > use.there]
    if not over:
        return None
    much = ", ".join(f"{use.used:,} of {use.there:,} {PARTS.get(use.part, use.part)}" for use in over)
    return f"the design does not fit {device}: {much}"


def clocks(report: dict[str, Any]) -> list[Clock]:
    """Every clock that nextpnr has analysed, by its name in the design."""
    return [
        Clock(net.removeprefix("$glbnet$").removesuffix("$TRELLIS_IO_IN"), figures["constraint"], figures["achieved"])
        for net, figures in sorted(report["fmax"].items())
    ]
