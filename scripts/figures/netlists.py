# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reports of Yosys and nextpnr: area and clock rates."""

from __future__ import annotations

import re

from pydantic import AliasChoices, Field

from scripts.figures.schema import Shown


class Synth(Shown):
    """`make synth`."""

    target: str
    device: str
    flows: int
    preset: str
    requested: str = ""
    modules: list[ModuleArea] = Field(validation_alias=AliasChoices("modules", "rooms"))
    state_bits_per_flow: int


class ModuleArea(Shown):
    name: str
    lut: int
    ff: int
    bram: int
    dsp: int
    lut_levels: int | None = None
    state_bits_per_flow: int


class Fmax(Shown):
    """`make fmax`: one run. A record may leave out the sizes, or the clock of a build that was not routed."""

    module: str = Field(validation_alias=AliasChoices("module", "room"))
    preset: str
    device: str
    grade: str
    seed: int
    fmax_mhz: float | None
    lut4: int | None
    carry: int | None
    lut_ram: int | None
    ff: int | None
    bram: int | None
    mult18: int | None


class Bitstream(Shown):
    """`make bitstream`: one board."""

    board: str
    device: str
    preset: str | None = None
    policies: dict[str, list[str]] | None = None
    flows: int | None = None
    area: dict[str, int] | None = None
    seed: int
    clocks: list[BoardClock]

    @property
    def options(self) -> str:
        """Policies and flows that are not the board's own."""
        other = re.search(r"policies=([^=]*),flows=(\d+)", self.preset or "")
        return f" POLICIES='{other[1]}' FLOWS={other[2]}" if other else ""


class BoardClock(Shown):
    name: str  # the net's
    wanted_mhz: float
    reached_mhz: float

    @property
    def purpose(self) -> str:
        """The PLL's second output is the core's clock, its first the wire's; others come from a PHY."""
        net = self.name.rpartition(".")[2]
        return {"CLKOS": "core", "gmii_gtx_clk": "transmit", "wire_clk": "transmit"}.get(net, net)


class PolicyArea(Shown):
    """`make policies AREA=1`: one policy."""

    name: str
    kind: str
    state_bits: int
    lut: int | None
    ff: int | None
    dsp: int | None
    fmax_mhz: float | None
