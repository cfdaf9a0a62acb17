# SPDX-License-Identifier: BSD-2-Clause-Patent
"""sdram.v, the judge of test_capture_store: it accepts a sequence that keeps the rules, and reports each
that breaks one."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import Timer

from cocotb_tests.bench.runner import run_module
from cocotb_tests.board.pins import SDRAM

MODE, REFRESH, PRECHARGE, ACTIVATE, WRITE, READ, NOTHING = 0, 1, 2, 3, 4, 5, 7
ALL_BANKS = 1 << 10
LATENCY_2 = 2 << 4
Command = tuple[int, int, int]  # which, address, bank
STARTED: list[Command] = [
    (PRECHARGE, ALL_BANKS, 0),
    *[(NOTHING, 0, 0)] * 3,
    *[(REFRESH, 0, 0), *[(NOTHING, 0, 0)] * 7] * 2,
    (MODE, LATENCY_2, 0),
    (NOTHING, 0, 0),
]


def test_sdram_model() -> None:
    run_module("sdram", __name__, rtl=SDRAM.parent, parameters={"POWER_UP_NS": 1000})


class Chip:
    def __init__(self, dut: Any) -> None:
        self.dut = dut

    async def step(self, command: int, address: int = 0, bank: int = 0, *, write: int | None = None) -> int:
        """A clock of 10 ns; what the chip drives before its end."""
        dut = self.dut
        dut.ras_n.value, dut.cas_n.value, dut.we_n.value = command >> 2 & 1, command >> 1 & 1, command & 1
        dut.a.value, dut.ba.value = address, bank
        dut.dq_drives.value = int(write is not None)
        dut.dq_write.value = write or 0
        dut.clk.value = 0
        await Timer(5, "ns")
        driven = int(dut.dq_read.value)
        dut.clk.value = 1
        await Timer(5, "ns")
        return driven

    async def rest(self, clocks: int) -> None:
        for _ in range(clocks):
            await self.step(NOTHING)

    async def start(self) -> None:
        await self.rest(200)
        for command in STARTED:
            await self.step(*command)

    @property
    def broken(self) -> list[int]:
        return [rule for rule in range(12) if int(self.dut.broken.value) >> rule & 1]


@cocotb.test()
async def an_access_before_the_start_up_is_reported(dut: Any) -> None:
    """First, since what was broken stays so. This is the one case that does not start the chip."""
    chip = Chip(dut)
    await chip.rest(10)
    await chip.step(PRECHARGE, ALL_BANKS)
    assert chip.broken == [0]


@cocotb.test()
async def words_come_back_two_clocks_later(dut: Any) -> None:
    chip = Chip(dut)
    await chip.start()
    for bank in range(4):
        await chip.step(ACTIVATE, 3 + bank, bank)
        await chip.rest(2)
    for bank in range(4):
        await chip.step(WRITE, 200 + bank, bank, write=1000 + bank)
    await chip.rest(2)
    seen = [await chip.step(READ, 200 + bank, bank) for bank in range(4)]
    seen += [await chip.step(NOTHING) for _ in range(3)]
    assert seen[2:6] == [1000, 1001, 1002, 1003]
    await chip.rest(4)
    await chip.step(PRECHARGE, ALL_BANKS)
    await chip.rest(8)
    assert chip.broken == [0], "that of the first case alone"


@cocotb.test()
async def each_rule_that_is_broken_is_reported(dut: Any) -> None:
    """One after the other, in the order of what they need; bits stay."""
    chip = Chip(dut)
    known = {0}

    async def breaks(rule: int, *commands: Command) -> None:
        for command in commands:
            await chip.step(*command, write=0 if command[0] == WRITE else None)
        known.add(rule)
        assert set(chip.broken) == known, f"rule {rule}"
        await chip.rest(8)

    rests = [(NOTHING, 0, 0)] * 8
    await breaks(2, (ACTIVATE, 1, 0), (READ, 0, 0))
    await breaks(4, (PRECHARGE, 0, 0), *rests, (ACTIVATE, 1, 0), (NOTHING, 0, 0), (PRECHARGE, 0, 0))
    await breaks(3, (ACTIVATE, 1, 1), *rests, (PRECHARGE, 0, 1), (ACTIVATE, 1, 1))
    await breaks(5, (PRECHARGE, ALL_BANKS, 0), *rests, (REFRESH, 0, 0), (NOTHING, 0, 0), (ACTIVATE, 1, 1))
    await breaks(6, (WRITE, 0, 1), (PRECHARGE, 0, 1))
    await breaks(7, (ACTIVATE, 1, 2), (ACTIVATE, 1, 3))
    await breaks(1, (READ, 0, 0))
    await breaks(9, (READ, 0, 2), (NOTHING, 0, 0), (WRITE, 0, 2))
    await breaks(10, (PRECHARGE, ALL_BANKS, 0), *rests, (MODE, LATENCY_2, 0), (ACTIVATE, 1, 0))
    await breaks(11, *rests, (PRECHARGE, ALL_BANKS, 0), *rests, (MODE, LATENCY_2 | 3, 0))
    await chip.rest(16 * 1563)
    assert 8 in chip.broken
