# SPDX-License-Identifier: BSD-2-Clause-Patent
"""FPGA families that Yosys maps to: its command, what its cells take of the device, and what the device has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scripts.ecp5.fmax.report import LUTS
from scripts.ecp5.fmax.tools import ECP5

PARTS = {"lut": "LUT", "ff": "flip-flops", "bram": "block RAMs of 18 Kbit", "dsp": "multipliers"}


@dataclass(frozen=True)
class Target:
    name: str
    commands: str  # Yosys's
    device: str
    there: dict[str, int]  # by part
    takes: dict[str, dict[str, int]]  # by part, how many of it a cell takes
    others: dict[str, dict[str, int]] = field(default_factory=dict)  # other devices of the family

    @property
    def devices(self) -> dict[str, dict[str, int]]:
        """Parts by device; the first must have space for the design."""
        return {self.device: self.there} | self.others

    def used(self, cells: Mapping[str, int]) -> dict[str, int]:
        """The device's parts that a module's cells take."""
        return {
            part: sum(each * cells.get(cell, 0) for cell, each in takes.items()) for part, takes in self.takes.items()
        }

    def overflow(self, used: Mapping[str, int]) -> str | None:
        """One line, if something has more than the device."""
        over = [part for part in PARTS if used[part] > self.there[part]]
        if not over:
            return None
        much = ", ".join(f"{used[part]:,} of {self.there[part]:,} {PARTS[part]}" for part in over)
        return f"the design does not fit {self.device}: {much}"


TARGETS = {
    target.name: target
    for target in (
        Target(
            "ecp5",
            ECP5,
            "LFE5U-85F",
            {"lut": 83_640, "ff": 83_640, "bram": 208, "dsp": 156},
            {
                "lut": LUTS,
                "ff": {"TRELLIS_FF": 1},
                "bram": {"DP16KD": 1},
                "dsp": {"MULT18X18D": 1},
            },
        ),
        Target(
            "xcup",
            # synth_ecp5 names cells after their nets by itself.
            "synth_xilinx -family xcup -flatten -top {top}; autoname; write_json",
            "XCKU5P",
            {"lut": 216_960, "ff": 433_920, "bram": 960, "dsp": 1_824},
            {
                # LUT RAM and shift registers by the LUTs that they are made of (AMD UG974). Inverters go into other
                # LUTs.
                "lut": {f"LUT{inputs}": 1 for inputs in range(1, 7)}
                | {"SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1, "RAM32X1S": 1, "RAM64X1S": 1, "RAM32X1D": 2, "RAM64X1D": 2}
                | {"RAM128X1S": 2, "RAM128X1D": 4, "RAM256X1S": 4, "RAM256X1D": 8, "RAM512X1S": 8}
                | {"RAM32M": 4, "RAM64M": 4, "RAM32M16": 8, "RAM64M8": 8},
                "ff": {"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1},
                "bram": {"RAMB18E2": 1, "RAMB36E2": 2},
                "dsp": {"DSP48E2": 1},
            },
            # A small and a large one (AMD DS890).
            {
                "XCAU15P": {"lut": 77_760, "ff": 155_520, "bram": 288, "dsp": 576},
                "XCVU13P": {"lut": 1_728_000, "ff": 3_456_000, "bram": 5_376, "dsp": 12_288},
            },
        ),
    )
}
