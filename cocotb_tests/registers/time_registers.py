# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The time base by its registers, as a host's driver would use them."""

from __future__ import annotations

from dataclasses import dataclass

from cocotb_tests.registers.bus import Registers

WORD = 1 << 32


@dataclass(frozen=True)
class Event:
    external: bool
    sequence: int
    stamp: int  # 2^-16 ns
    reference: int


class BoardTime:
    def __init__(self, registers: Registers) -> None:
        self.registers = registers

    async def now(self) -> int:
        """In 2^-16 ns."""
        low = await self.registers.read("timeLow")
        high = await self.registers.read("timeHigh")
        return (high << 32 | low) << 16 | await self.registers.read("timeFraction")

    async def increment(self, value: int) -> None:
        """2^-32 ns a clock."""
        await self.registers.write("incrementHigh", ns=value >> 32)
        await self.registers.write("incrementLow", value % WORD)

    async def jump(self, value: int, *, relative: bool) -> None:
        """`value` in 2^-32 ns, signed where it is relative."""
        await self.registers.write("jumpHigh", value >> 64 & 0xFFFF)
        await self.registers.write("jumpLow", value >> 32 & 0xFFFFFFFF)
        await self.registers.write("jumpFraction", value & 0xFFFFFFFF)
        await self.registers.write("jump", **{"step" if relative else "set": 1})

    async def slew(self, per_clock: int, clocks: int) -> None:
        await self.registers.write("slewPerClock", per_clock % WORD)
        await self.registers.write("slewClocks", clocks)

    async def pulses(self, start_ns: int, half_period_ns: int) -> None:
        await self.registers.write("pulseStartHigh", start_ns >> 32)
        await self.registers.write("pulseStartLow", start_ns % WORD)
        await self.registers.write("pulseHalfPeriod", half_period_ns)

    async def event(self) -> Event | None:
        """The oldest event of the log, taken out of it."""
        word = await self.registers.read("timeEvent")
        if not word & 1:
            return None
        names = ("eventNs", "eventNs_high", "eventFraction", "referenceNs", "referenceNs_high", "referenceFraction")
        low, high, fraction, *reference = [await self.registers.read(name) for name in names]
        external = await self.registers.field("timeEvent", "external")
        sequence = await self.registers.field("timeEvent", "sequence")
        await self.registers.write("timeEvent", next=1)
        return Event(
            bool(external),
            sequence,
            (high << 32 | low) << 16 | fraction,
            (reference[1] << 32 | reference[0]) << 16 | reference[2],
        )
