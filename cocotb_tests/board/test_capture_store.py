# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CaptureStore: words leave in the order they came in, from block RAM and from SDRAM, whose rules are kept
(sdram.v)."""

from __future__ import annotations

import os
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer

from cocotb_tests.bench import StreamSink, StreamSource, generator, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.board.pins import HERE, PERIOD_PS, SDRAM

DEPTH = 4096
RECORD = 10  # words
IN_SDRAM = "sdram"
PLACE = os.environ.get("DOWNBEAT_STORE")  # in the simulator


@pytest.mark.parametrize("place", [IN_SDRAM, "blockram"])
def test_capture_store(place: str) -> None:
    environment = {"DOWNBEAT_STORE": place}
    if place == IN_SDRAM:
        run_module(
            "CaptureStore", __name__, label=place, around=[SDRAM, HERE / "capture_pins.v"], environment=environment
        )
    else:
        run_module("CaptureStoreInBlockRam", __name__, label=place, environment=environment)


class Bench:
    def __init__(self, dut: Any, *, gap: float = 0.0, stall: float = 0.0) -> None:
        self.dut = dut
        self.inward = StreamSource(dut, "push", stall=gap)
        self.outward = StreamSink(dut, "pop", stall=stall)
        self.random = generator()

    async def start(self) -> None:
        self.dut.reset.value = 1
        Clock(self.dut.clk, PERIOD_PS, unit="ps").start()
        await ClockCycles(self.dut.clk, 4)
        self.dut.reset.value = 0
        await until(self.dut, lambda: self.dut.hasSpace.value == 1, "space", 1000)

    def words(self, count: int) -> list[int]:
        return [self.random.getrandbits(64) for _ in range(count)]

    async def fetched(self, count: int) -> list[int]:
        """Words that come go first: as long as there is one in each clock the host gets none."""
        return [(await self.outward.receive(30_000))["payload"] for _ in range(count)]

    def rules_are_kept(self) -> None:
        if PLACE == IN_SDRAM:
            assert self.dut.broken.value == 0, f"{int(self.dut.broken.value):012b}"


@cocotb.test()
@cocotb.parametrize((("gap", "stall"), [(0.0, 0.0), (0.8, 0.0), (0.0, 0.8), (0.7, 0.7)]))
async def words_leave_in_their_order(dut: Any, gap: float, stall: float) -> None:
    """More than the store holds, so that its places are used again."""
    bench = Bench(dut, gap=gap, stall=stall)
    await bench.start()
    words = bench.words(DEPTH + 500)
    bench.inward.put(*words)
    assert await bench.fetched(len(words)) == words
    await ClockCycles(dut.clk, 4)
    assert dut.level.value == 0
    bench.rules_are_kept()


@cocotb.test()
async def a_full_store_takes_no_more_and_says_so_four_records_before(dut: Any) -> None:
    bench = Bench(dut)
    bench.outward.stall = 1.0
    await bench.start()
    words = bench.words(DEPTH + 40)
    space = DEPTH - 4 * RECORD
    await bench.inward.send(*words[: space - 1], clocks=30_000)
    await ClockCycles(dut.clk, 4)
    assert (int(dut.hasSpace.value), int(dut.level.value)) == (1, space - 1)
    await bench.inward.send(words[space - 1])
    await ClockCycles(dut.clk, 4)
    assert dut.hasSpace.value == 0
    bench.inward.put(*words[space:])
    await ClockCycles(dut.clk, 2000)
    assert int(dut.level.value) == DEPTH
    bench.outward.stall = 0.0
    assert await bench.fetched(len(words)) == words
    bench.rules_are_kept()


@cocotb.test()
async def frames_of_the_least_length_without_a_gap_are_taken_as_they_come(dut: Any) -> None:
    """A record of ten words in 84 byte times of 8 ns, which is 42 clocks, while the host fetches at its own pace."""
    bench = Bench(dut, stall=0.98)
    await bench.start()
    sent: list[int] = []
    for _ in range(200):
        record = bench.words(RECORD)
        sent += record
        bench.inward.put(*record)
        await ClockCycles(dut.clk, 42)
        assert bench.inward.sent >= len(sent) - 2 * RECORD
    bench.outward.stall = 0.0
    assert await bench.fetched(len(sent)) == sent
    bench.rules_are_kept()


@cocotb.test(skip=PLACE != IN_SDRAM)
async def the_sdram_is_refreshed_4096_times_in_64_ms(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    before = int(dut.refreshes.value)
    await Timer(2, "ms")
    assert abs(int(dut.refreshes.value) - before - 128) <= 1
    bench.rules_are_kept()
