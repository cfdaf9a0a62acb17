# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Time as an input of a module: frozen, jumping to what the module says is next, or running."""

from __future__ import annotations

import random
from typing import Any

from cocotb.triggers import RisingEdge

from cocotb_tests.bench import until

WRAP = 1 << 48  # ns
HOUR = 3600 * 10**9  # ns


class VirtualTime:
    """Owns `now` of a module that has `next` and `idle`. `ns` counts on where the module's 48 bits wrap."""

    def __init__(self, dut: Any, ns: int) -> None:
        self.dut = dut
        self.ns = ns
        self.fraction = 0  # 2^-16 ns

    @property
    def inputs(self) -> dict[str, int]:
        """For `start`."""
        return {"now_ns": self.ns % WRAP, "now_fraction": self.fraction}

    def set(self, ns: int, fraction: int = 0) -> None:
        assert (ns, fraction) >= (self.ns, self.fraction), "time does not run backwards"
        self.ns, self.fraction = ns, fraction
        self.dut.now_ns.value = ns % WRAP
        self.dut.now_fraction.value = fraction

    async def quiet(self, clocks: int = 4000) -> None:
        """Waits until the module is idle; what was driven just now it has seen."""
        await RisingEdge(self.dut.clk)
        await until(self.dut, lambda: self.dut.idle.value == 1, "the module to be idle", clocks)

    def next(self) -> int | None:
        """When the idle module next wants attention, at the earliest now."""
        if self.dut.next_armed.value == 0:
            return None
        at = int(self.dut.next_at_ns.value)
        ahead = (at - self.ns) % WRAP
        return self.ns + ahead if ahead < WRAP // 2 else self.ns

    async def jump(self) -> bool:
        """From the idle module to its next instant; False: it wants none."""
        at = self.next()
        if at is None:
            return False
        assert at > self.ns, "an idle module wants attention now"
        self.set(at)
        await self.quiet()
        return True

    async def run(self, generator: random.Random, step: int) -> None:
        """Moves on by less than `step` ns each clock, until cancelled."""
        while True:
            await RisingEdge(self.dut.clk)
            self.set(self.ns + generator.randrange(1, step), generator.getrandbits(16))
