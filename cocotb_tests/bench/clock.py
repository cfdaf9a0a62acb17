# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Clock `clk` of 125 MHz and the synchronous, active-high `reset` that every module has."""

from __future__ import annotations

from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

CLOCK_NS = 8


async def start(dut: Any, *, reset_clocks: int = 4, **inputs: int) -> None:
    """Starts the clock, holds reset for some clocks and returns at the first edge without it.

    `inputs` are values for ports that no driver owns, set before the first edge.
    """
    for name, value in inputs.items():
        getattr(dut, name).value = value
    dut.reset.value = 1
    Clock(dut.clk, CLOCK_NS, unit="ns").start()
    await ClockCycles(dut.clk, reset_clocks)
    dut.reset.value = 0
    await RisingEdge(dut.clk)


async def clocks(dut: Any, count: int) -> None:
    """Lets `count` clocks pass."""
    await ClockCycles(dut.clk, count)
