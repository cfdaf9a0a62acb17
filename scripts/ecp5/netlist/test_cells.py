# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Netlists behave as what they are mapped from: memories and products in each mode that is used, and a small module
of the core."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from cocotb_tests.bench import generator, start
from cocotb_tests.bench.runner import run_module
from scripts.ecp5.fmax.tools import ROOT, synthesise
from scripts.ecp5.netlist.gates import VERILATOR, seed, simulated

HERE = Path(__file__).parent
CLOCKS = 4000
DATA = 36  # bits
INPUTS = ("write", "strobe", "writeAddress", "data", "read", "readAddress")


def on_gates(module: str, test_module: str, rtl: Path) -> None:
    os.chdir(ROOT)
    gates = simulated((rtl / f"{module}.v").relative_to(ROOT), seed())
    run_module(module, test_module, rtl=rtl, label="netlist", netlist=gates, verilator_args=VERILATOR)


@pytest.mark.soak
def test_memories_and_products() -> None:
    run_module("Modes", __name__, rtl=HERE)


@pytest.mark.soak
def test_memories_and_products_as_cells() -> None:
    on_gates("Modes", __name__, HERE)
    netlist = json.loads((ROOT / synthesise((HERE / "Modes.v").relative_to(ROOT))).read_text())
    memories = [cell for cell in netlist["modules"]["Modes"]["cells"].values() if cell["type"] == "DP16KD"]
    assert sum(memory["parameters"]["REGMODE_B"] == "OUTREG" for memory in memories) == 2


@pytest.mark.soak
def test_tournament_tree_as_cells() -> None:
    on_gates("TournamentTree", "cocotb_tests.pacing.test_tournament_tree", ROOT / "build" / "rtl")


class Memory:
    """Words of so many bits; what nobody wrote is not known."""

    def __init__(self, width: int, depth: int) -> None:
        self.width, self.depth = width, depth
        self.words: dict[int, int] = {}

    def write(self, address: int, data: int) -> None:
        self.words[address % self.depth] = data % (1 << self.width)

    def read(self, address: int) -> int | None:
        return self.words.get(address % self.depth)


def signed(value: int) -> int:
    return value - (1 << 18) if value >> 17 else value


class Model:
    """Modes.v; an output is None while it is not known."""

    def __init__(self) -> None:
        self.outputs: dict[str, int | None] = {}
        self.two_ports = {"words": Memory(36, 512), "bytes": Memory(9, 2048)}
        self.registered = {"kept": Memory(36, 512), "later": Memory(9, 2048)}
        self.behind: dict[str, int | None] = dict.fromkeys(self.registered)
        self.halves = [Memory(9, 1024), Memory(9, 1024)]
        self.old, self.new, self.unchanged = Memory(4, 4096), Memory(2, 8192), Memory(1, 16384)

    def clock(self, given: dict[str, int]) -> None:
        at, data, writes = given["readAddress"], given["data"], given["write"]
        self.outputs["later"] = self.behind["later"]
        if not given["strobe"] >> 1 & 1:
            self.outputs["kept"] = self.behind["kept"]
        if given["read"]:
            self._read(at, given)
            self.outputs["oldFirst"] = self.old.read(at)
            self.outputs["newFirst"] = data % 4 if writes else self.new.read(at)
            if not writes:
                self.outputs["unchanged"] = self.unchanged.read(at)
            for memory in (self.old, self.new, self.unchanged) if writes else ():
                memory.write(at, data)
        if writes:
            for memory in (*self.two_ports.values(), *self.registered.values()):
                memory.write(given["writeAddress"], data)
            for i, memory in enumerate(self.halves):
                if given["strobe"] >> i & 1:
                    memory.write(given["writeAddress"], data >> 9 * i)
        a, b = data % (1 << 18), data >> 18
        self.outputs["unsignedProduct"] = a * b
        self.outputs["signedProduct"] = signed(a) * signed(b) % (1 << DATA)

    def _read(self, at: int, given: dict[str, int]) -> None:
        """The value read while the same word is written is undefined."""

        def read(memory: Memory, writes: int) -> int | None:
            return None if writes and (at - given["writeAddress"]) % memory.depth == 0 else memory.read(at)

        for name, memory in self.two_ports.items():
            self.outputs[name] = read(memory, given["write"])
        for name, memory in self.registered.items():
            self.behind[name] = read(memory, given["write"])
        low, high = (read(memory, given["write"] and given["strobe"] >> i & 1) for i, memory in enumerate(self.halves))
        self.outputs["halves"] = None if low is None or high is None else high << 9 | low


@cocotb.test()
async def every_mode_reads_what_was_written(dut: Any) -> None:
    random, model = generator(), Model()
    await start(dut, **dict.fromkeys(INPUTS, 0))
    compared = dict.fromkeys(("words", "halves", "bytes", "kept", "later", "oldFirst", "newFirst", "unchanged"), 0)
    places = [random.getrandbits(14) for _ in range(24)]  # few, so that they meet
    await FallingEdge(dut.clk)
    for _ in range(CLOCKS):
        given = {
            "write": random.getrandbits(1),
            "strobe": random.getrandbits(2),
            "writeAddress": random.choice(places),
            "data": random.getrandbits(DATA),
            "read": random.randrange(4) > 0,
            "readAddress": random.choice(places),
        }
        for name, value in given.items():
            getattr(dut, name).value = int(value)
        await FallingEdge(dut.clk)
        model.clock(given)
        for name, expected in model.outputs.items():
            if expected is not None:
                assert int(getattr(dut, name).value) == expected, name
                compared[name] = compared.get(name, 0) + 1
    assert min(compared.values()) > CLOCKS // 8, compared
