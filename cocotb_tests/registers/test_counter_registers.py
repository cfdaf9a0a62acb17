# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Counts of eight bits in the modules, added up under the register map: nothing is missed, however often it is read."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.registers.bus import Registers, register_map
from cocotb_tests.registers.map import count_ports, running, started


def test_counter_registers() -> None:
    run_module("RegisterMap", __name__)


class Modules:
    """The modules' counts, modulo 2^8, as the map gets them, and what each counter must therefore show."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.random = generator()
        self.counts = {name: 0 for name in register_map()["registers"] if _is_counted(name)}
        assert len(self.counts) == sum("Lateness" not in port for port in count_ports(dut))

    @classmethod
    async def running(cls, dut: Any) -> tuple[Registers, Modules]:
        registers = await started(dut)
        await registers.write("control", enable=1)
        await running(dut)
        return registers, cls(dut)

    def count(self, name: str, times: int) -> None:
        self.counts[name] += times
        getattr(self.dut, _port(name)).value = self.counts[name] % 256

    async def check(self, registers: Registers) -> None:
        for name, count in self.counts.items():
            assert await registers.read(name) == count, name


def _is_counted(register: str) -> bool:
    return register.startswith("counter_") and "Lateness" not in register


def _port(counter: str) -> str:
    name = counter.removeprefix("counter_")
    return f"mac_counters_{name.removeprefix('mac_')}" if name.startswith("mac_") else f"counters_{name}"


@cocotb.test()
async def counters_add_up_what_modules_count_modulo_256(dut: Any) -> None:
    """Up to 255 more in a round of visits, which is not longer than 128 clocks; every count passes 2^16."""
    registers, modules = await Modules.running(dut)
    for _ in range(600):
        for name in modules.counts:
            modules.count(name, modules.random.randrange(256))
        await ClockCycles(dut.clk, 128)
    assert min(modules.counts.values()) > 1 << 16
    await modules.check(registers)


@cocotb.test()
async def a_read_shows_what_was_counted_when_it_began(dut: Any) -> None:
    registers, modules = await Modules.running(dut)
    for _ in range(300):
        name = modules.random.choice(list(modules.counts))
        modules.count(name, 1)
        await ClockCycles(dut.clk, modules.random.randrange(1, 4))
        assert await registers.read(name) == modules.counts[name], name


@cocotb.test()
async def the_cores_counters_begin_again_with_it_and_the_macs_go_on(dut: Any) -> None:
    registers = await started(dut)
    modules = Modules(dut)
    for enable in (1, 0, 1):
        await registers.write("control", enable=enable)
        if enable:
            await running(dut)
        for name in modules.counts:
            if not name.startswith("counter_mac_"):
                modules.counts[name] = 0
            modules.count(name, modules.random.randrange(256) if enable else 0)
        await modules.check(registers)
