# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The register map alone, without the modules whose registers it has."""

from __future__ import annotations

from typing import Any

from cocotb_tests.bench import start, until
from cocotb_tests.registers.bus import Registers


def count_ports(dut: Any) -> list[str]:
    """The counters of modules, and the MAC's worst lateness."""
    return [name for name in dir(dut) if name.startswith(("counters_", "mac_counters_"))]


async def started(dut: Any, *, stall: float = 0.0) -> Registers:
    registers = Registers(dut, stall=stall)
    await start(dut, coreIdle=0, trace_valid=0, **dict.fromkeys(count_ports(dut), 0))
    return registers


async def running(dut: Any) -> None:
    await until(dut, lambda: dut.coreReset.value == 0, "the core to leave reset", 200)
