# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two boards: the time read whole and disciplined by registers, and one board's time by the pulses of the other."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from downbeat_toe.servo import Servo

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.gmii import now_ps
from cocotb_tests.mac.mac import clock
from cocotb_tests.registers.bus import Registers
from cocotb_tests.registers.time_registers import BoardTime, Event

CORE_PS = 10_000
NOMINAL = 8 << 32


def test_time_registers() -> None:
    run_module("TimeBench", __name__)


async def boards(dut: Any, *, first: int = 8000, second: int = 8000) -> tuple[BoardTime, BoardTime]:
    """Their wire clocks' periods in ps. Neither core is enabled."""
    for pin in ("externalClock", "externalTime_valid"):
        getattr(dut, pin).value = 0
    pair = tuple(BoardTime(Registers(dut, prefix=name)) for name in ("first", "second"))
    dut.reset.value = 1
    clock(dut.clk, CORE_PS)
    clock(dut.firstClock, first)
    clock(dut.secondClock, second)
    await ClockCycles(dut.clk, 8)
    dut.reset.value = 0
    await ClockCycles(dut.clk, 40)
    return pair[0], pair[1]


async def true_now(dut: Any, board: str) -> int:
    """The core's copy, in 2^-16 ns."""
    await ReadOnly()
    return int(getattr(dut, f"{board}Now_ns").value) << 16 | int(getattr(dut, f"{board}Now_fraction").value)


@cocotb.test()
@cocotb.parametrize(at=[1 << 32, 1 << 47, 1 << 48])
async def a_read_is_of_one_instant_wherever_a_word_carries(dut: Any, at: int) -> None:
    """The carry falls before, between and behind the reads of the three registers."""
    first, _ = await boards(dut)
    await first.increment(NOMINAL + 0x12345678)  # so that the fraction moves too
    before_carry = 0
    for ahead in range(0, 1200, 10):
        await first.jump((at - ahead) << 32, relative=False)
        await ClockCycles(dut.clk, 25)
        before = await true_now(dut, "first")
        await RisingEdge(dut.clk)
        found = await first.now()
        after = await true_now(dut, "first")
        await RisingEdge(dut.clk)
        assert (found - before) % (1 << 64) <= (after - before) % (1 << 64) < 2000 << 16
        before_carry += (at - (found >> 16)) % (1 << 48) < 2000 and ((after >> 16) - at) % (1 << 48) < 2000
    assert before_carry > 5, "reads that straddle it"


@cocotb.test()
async def a_jump_is_refused_while_the_core_is_enabled(dut: Any) -> None:
    first, _ = await boards(dut)
    registers = first.registers
    await first.jump(1 << 78, relative=False)
    await ClockCycles(dut.clk, 30)
    assert await registers.field("timeStatus", "jumpRefused") == 0
    assert await first.now() > 1 << 62
    await registers.write("control", enable=1)
    await ClockCycles(dut.clk, 100)
    for relative in (True, False):
        await first.jump(-5 << 32, relative=relative)
        await ClockCycles(dut.clk, 30)
        assert await registers.field("timeStatus", "jumpRefused") == 1
        assert 1 << 62 < await first.now() < (1 << 62) + (1 << 40)
    await registers.write("control", enable=0)
    await first.jump(-(1 << 77), relative=True)
    await ClockCycles(dut.clk, 30)
    assert await registers.field("timeStatus", "jumpRefused") == 0
    assert await first.now() < (1 << 61) + (1 << 40)


@cocotb.test()
async def an_increment_without_a_nanosecond_is_not_taken(dut: Any) -> None:
    """Slews take up to half a nanosecond from a clock: time would stand or go back."""
    first, _ = await boards(dut)
    await first.increment(0xFFFFFFFF)
    before = await first.now()
    await ClockCycles(dut.clk, 200)
    assert await first.now() - before >= 200 * 10 << 16


@cocotb.test()
async def a_slew_by_registers_moves_the_time_by_its_product(dut: Any) -> None:
    first, _ = await boards(dut)
    per_clock, clocks = -(1 << 31), 4000  # 2,000 ns
    for _ in range(2):
        now, began = await true_now(dut, "first"), now_ps()
        await RisingEdge(dut.clk)
        await first.slew(per_clock, clocks)
        await ClockCycles(dut.clk, 20)
        assert await first.registers.field("timeStatus", "slewing") == 1
        await ClockCycles(dut.clk, 4000)
        assert await first.registers.field("timeStatus", "slewing") == 0
        moved = (await true_now(dut, "first") - now) / 65536
        assert abs(moved - (now_ps() - began) / 1000 + 2000) < 110  # the copy's lateness
        await RisingEdge(dut.clk)


@cocotb.test()
async def the_external_times_comparison_comes_by_registers(dut: Any) -> None:
    _, second = await boards(dut)
    clock(dut.externalClock, 7_001)
    dut.externalTime_valid.value = 1
    dut.externalTime_payload_ns.value = wanted = 0x9876_5432_1012
    dut.externalTime_payload_fraction.value = 0xABCD
    await ClockCycles(dut.clk, 30)
    assert await second.registers.field("timeStatus", "externalAlive") == 1
    assert await second.event() is None
    await second.registers.write("externalTime", sample=1)
    await ClockCycles(dut.clk, 30)
    event = await second.event()
    assert event == Event(True, 0, event.stamp if event else 0, wanted << 16 | 0xABCD)
    assert await second.event() is None
    assert await second.registers.read("externalTime") == 0, "the request is over"


@cocotb.test()
@cocotb.parametrize(apart=[1, -1])
async def two_boards_share_time_by_a_pulse_and_a_servo(dut: Any, apart: int) -> None:
    """125 ppm apart and 5 us from each other, pulses of 100 us: after four of them each offset is below 20 ns."""
    interval_ns = 100_000
    first, second = await boards(dut, first=8000, second=8000 + apart)
    random = generator()
    await first.jump(random.randrange(1 << 46) << 32, relative=False)
    await ClockCycles(dut.clk, 30)
    start = (await first.now() >> 16) + 20_000
    await first.pulses(start, interval_ns // 2)
    # The host tells the second board the time as well as it can, and by pulses the rest.
    await second.jump((await first.now() + (random.randrange(-5000, 5000) << 16)) << 16, relative=False)
    servo = Servo(interval_ns)
    offsets = []
    for number in range(25):
        while (event := await second.event()) is None:
            await ClockCycles(dut.clk, 100)
        assert (event.external, event.sequence) == (False, number)
        offsets.append(event.stamp / 65536 - (start + number * interval_ns))
        correction = servo.pulse(offsets[-1])
        await second.increment(correction.increment)
        await second.slew(correction.slew_per_clock, correction.slew_clocks)
    cocotb.log.info("offsets, ns: %s", " ".join(f"{offset:.1f}" for offset in offsets))
    assert abs(offsets[0]) > 20, "there was something to do"
    assert max(map(abs, offsets[4:])) < 20
    # Not only at the pulses: the copies of both agree, to their own lateness (two steps of about 60 ns).
    for _ in range(50):
        await ClockCycles(dut.clk, random.randrange(1, 50))
        await ReadOnly()
        ns = [int(getattr(dut, f"{board}Now_ns").value) for board in ("first", "second")]
        assert abs(ns[0] - ns[1]) < 150
        await RisingEdge(dut.clk)
