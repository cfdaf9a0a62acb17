# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Registers by name on `s_axil`, as the generated JSON says."""

from __future__ import annotations

import functools
import json
import logging
from pathlib import Path
from typing import Any

from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from cocotb_tests.bench import bounded
from cocotb_tests.memory.axi import pauses

FILE = Path(__file__).resolve().parents[2] / "build" / "rtl" / "downbeat_registers.json"


@functools.cache
def register_map() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(FILE.read_text())
    return loaded


class RefusedError(Exception):
    """The slave answered with an error."""


class Registers:
    """A bus master; `stall` is the share of clocks in which each of its five channels pauses."""

    def __init__(self, dut: Any, *, prefix: str = "s_axil", stall: float = 0.0) -> None:
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, prefix), dut.clk, dut.reset)
        write, read = self.master.write_if, self.master.read_if
        for side in (write, read):
            side.log.setLevel(logging.WARNING)
        if stall:
            for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel):
                channel.set_pause_generator(pauses(stall, 5))

    async def read_at(self, address: int) -> int:
        response = await bounded(self.master.read(address, 4), f"the response to a read at {address:#x}", 1000)
        if response.resp == AxiResp.SLVERR:
            raise RefusedError(f"read at {address:#x}")
        assert response.resp == AxiResp.OKAY
        return int.from_bytes(response.data, "little")

    async def write_at(self, address: int, data: bytes) -> None:
        response = await bounded(self.master.write(address, data), f"the response to a write at {address:#x}", 1000)
        if response.resp == AxiResp.SLVERR:
            raise RefusedError(f"write at {address:#x}")
        assert response.resp == AxiResp.OKAY

    async def read(self, name: str) -> int:
        return await self.read_at(register_map()["registers"][name]["offset"])

    async def write(self, name: str, value: int | None = None, **fields: int) -> None:
        """The whole register, or its fields; a field that is not given is 0."""
        register = register_map()["registers"][name]
        word = value or 0
        for field, part in fields.items():
            place = register["fields"][field]
            assert 0 <= part < 1 << place["width"]
            word |= part << place["offset"]
        await self.write_at(register["offset"], word.to_bytes(4, "little"))

    async def field(self, name: str, field: str) -> int:
        place = register_map()["registers"][name]["fields"][field]
        offset, width = int(place["offset"]), int(place["width"])
        return (await self.read(name)) >> offset & (1 << width) - 1

    async def record(self, index: int, *, log: bool) -> dict[str, int] | None:
        """The fields of a trace record, or None when there is no such record."""
        await self.write("recordSelect", index=index, log=int(log))
        if not await self.read("recordFound"):
            return None
        names = [name for name in register_map()["registers"] if name.startswith("record_")]
        words = {name.removeprefix("record_"): await self.read(name) for name in names}
        return {
            name: word | words.get(f"{name}_high", 0) << 32
            for name, word in words.items()
            if name.removesuffix("_high") not in words or not name.endswith("_high")
        }
