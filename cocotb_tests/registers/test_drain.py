# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A reset of a core with memory outside waits for the ends of its bursts, by time; and turns of reads and writes."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from cocotb_tests.bench import clocks, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.registers.bus import Registers, register_map
from cocotb_tests.registers.map import running, started

LIMIT = 2**19  # ns
NOW = 2**48 - 1000  # time wraps while the reset waits


def test_drain() -> None:
    run_module("RegisterMapDraining", __name__)


async def enabled(dut: Any) -> Registers:
    dut.now_ns.value = NOW
    dut.drained.value = 0
    registers = await started(dut)
    await registers.write("control", enable=1)
    await running(dut)
    return registers


@cocotb.test()
@cocotb.parametrize(soft=[True, False])
async def a_reset_waits_until_the_bursts_have_ended(dut: Any, soft: bool) -> None:
    registers = await enabled(dut)
    assert dut.drains.value == 0
    await registers.write("control", enable=int(soft), softReset=int(soft))
    await clocks(dut, 500)
    assert dut.drains.value == 1 and dut.coreReset.value == 0
    assert await registers.field("status", "running") == 1
    dut.drained.value = 1
    await until(dut, lambda: dut.coreReset.value == 1, "the reset", 4)
    await clocks(dut, 1)
    dut.drained.value = 0
    assert dut.drains.value == 0
    lasted = 0
    while soft and dut.coreReset.value == 1:
        await clocks(dut, 1)
        lasted += 1
    assert lasted >= 16 or not soft, "a reset that a slow clock does not see"
    assert int(dut.coreReset.value) == 1 - soft


@cocotb.test()
async def a_memory_that_never_answers_holds_a_reset_up_by_time_and_not_by_clocks(dut: Any) -> None:
    registers = await enabled(dut)
    for _ in range(2):
        begun = NOW
        dut.now_ns.value = begun
        await registers.write("control", enable=0)
        await ClockCycles(dut.clk, 2**16 + 100)
        assert dut.coreReset.value == 0, "no time has passed"
        dut.now_ns.value = (begun + LIMIT - 1) % 2**48
        await clocks(dut, 20)
        assert dut.coreReset.value == 0
        dut.now_ns.value = (begun + LIMIT) % 2**48
        await until(dut, lambda: dut.coreReset.value == 1, "the reset", 4)
        await registers.write("control", enable=1)
        await running(dut)


@cocotb.test()
async def a_read_among_writes_without_end_has_its_turn(dut: Any) -> None:
    """Reads and writes take turns: the tenth read is done before the twentieth write that was waiting for it."""
    registers = await enabled(dut)
    places = register_map()["registers"]
    writes = [registers.master.init_write(places["localIp"]["offset"], bytes(4)) for _ in range(200)]
    reads = [registers.master.init_read(places["magic"]["offset"], 4) for _ in range(10)]
    await reads[-1].wait()
    done = sum(write.is_set() for write in writes)
    assert done < 20, f"{done} writes went before ten reads"
    for write in writes:
        await write.wait()
