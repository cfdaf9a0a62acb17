# SPDX-License-Identifier: BSD-2-Clause-Patent
"""PHYs on MDIO (IEEE 802.3 clause 22), bit by bit."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

LINK, NEGOTIATED = 1 << 2, 1 << 5
GIGABIT_PARTNER = 1 << 11  # register 10
SLOW_PARTNER = 0x01E1  # register 5: 10 and 100 Mb/s


class Phys:
    """`registers[phy][register]`; what is written is in `writes` too, in order, as phy, register, value."""

    def __init__(self, dut: Any, phys: int) -> None:
        self._dut = dut
        self.registers = [{1: LINK | NEGOTIATED, 2: 0x0362, 5: 0x0001, 10: GIGABIT_PARTNER} for _ in range(phys)]
        self.writes: list[tuple[int, int, int]] = []
        dut.mdio_in.value = 1
        cocotb.start_soon(self._run())

    async def _bit(self) -> int:
        """The level that the board drives at the rising edge; a pull-up holds the line otherwise."""
        await RisingEdge(self._dut.mdc)
        return int(self._dut.mdio_out.value) if self._dut.mdio_drives.value == 1 else 1

    async def _number(self, bits: int) -> int:
        value = 0
        for _ in range(bits):
            value = value << 1 | await self._bit()
        return value

    async def _run(self) -> None:
        dut = self._dut
        while True:
            ones = 0
            while await self._bit():
                ones += 1
            assert ones >= 32, f"a preamble of {ones} bits"
            assert await self._bit() == 1, "a start is 01"
            operation, phy, register = await self._number(2), await self._number(5), await self._number(5)
            assert dut.phy_reset_n.value == 1, "nobody speaks to a PHY in reset"
            known = phy < len(self.registers)
            if operation == 2:
                await RisingEdge(dut.mdc)
                assert dut.mdio_drives.value == 0, "the board leaves the line at the turn-around"
                value = self.registers[phy].get(register, 0) if known else 0xFFFF
                dut.mdio_in.value = int(not known)
                for bit in range(15, -1, -1):
                    await RisingEdge(dut.mdc)
                    assert dut.mdio_drives.value == 0
                    dut.mdio_in.value = value >> bit & 1
                await RisingEdge(dut.mdc)
                dut.mdio_in.value = 1
            else:
                assert operation == 1, f"operation {operation}"
                assert await self._number(2) == 2, "a turn-around is 10"
                value = await self._number(16)
                self.writes.append((phy, register, value))
                if known:
                    self.registers[phy][register] = value
