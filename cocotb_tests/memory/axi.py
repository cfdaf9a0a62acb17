# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Memories and masters of cocotbext-axi with seeded stalls. They check each burst: 4 KiB boundary and last beat."""

from __future__ import annotations

import logging
from collections.abc import Container, Iterator
from typing import Any

from cocotbext.axi import AxiRamRead, AxiRamWrite, AxiReadBus, AxiWriteBus

from cocotb_tests.bench import generator
from cocotb_tests.memory.layout import MEMORY_BYTES


def _hits(address: int, length: int, faults: Container[int]) -> bool:
    """A word of eight bytes with one of these bytes is among `faults`."""
    return any(word in faults for word in range(address - address % 8, address + length, 8))


class FaultyRamWrite(AxiRamWrite):  # type: ignore[misc]
    """Answers SLVERR for each burst with a beat that has a byte of `faults` (byte addresses of words of eight)."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.faults: Container[int] = ()
        super().__init__(*arguments, **options)

    async def _write(self, address: int, data: bytes) -> None:
        if _hits(address, len(data), self.faults):
            raise ValueError("a fault that the test asked for")
        await super()._write(address, data)


class FaultyRamRead(AxiRamRead):  # type: ignore[misc]
    """Answers SLVERR, with zeros, for each beat that has one of `faults` (byte addresses of words of eight)."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.faults: Container[int] = ()
        super().__init__(*arguments, **options)

    async def _read(self, address: int, length: int) -> bytes:
        if _hits(address, length, self.faults):
            raise ValueError("a fault that the test asked for")
        data: bytes = await super()._read(address, length)
        return data


def pauses(stall: float, longest: int = 1) -> Iterator[bool]:
    """Random pauses that take a share of `stall` of the clocks, each of up to `longest` clocks."""
    random = generator()
    mean = (longest + 1) / 2
    begin = stall / (mean * (1 - stall) + stall)
    while True:
        if random.random() < begin:
            yield from [True] * random.randint(1, longest)
        else:
            yield False


def outside_memory(dut: Any, *, stall: float = 0.0, late: int = 1) -> tuple[FaultyRamWrite, FaultyRamRead]:
    """A memory of random bytes at the core's ports `m_axi_*`; all five channels pause."""
    writes = FaultyRamWrite(AxiWriteBus.from_prefix(dut, "m_axi"), dut.clk, dut.reset, size=MEMORY_BYTES)
    reads = FaultyRamRead(AxiReadBus.from_prefix(dut, "m_axi"), dut.clk, dut.reset, mem=writes.mem)
    for side in (writes, reads):
        side.log.setLevel(logging.CRITICAL)
    if stall:
        for channel in (writes.aw_channel, writes.w_channel, reads.ar_channel):
            channel.set_pause_generator(pauses(stall))
        for channel in (writes.b_channel, reads.r_channel):
            channel.set_pause_generator(pauses(stall, late))
    writes.write(0, generator().randbytes(MEMORY_BYTES))
    return writes, reads


def read_ram(dut: Any, *, stall: float = 0.0, late: int = 1) -> FaultyRamRead:
    """A memory of random bytes behind the read port `axi`; answers pause for up to `late` clocks at a time."""
    ram = FaultyRamRead(AxiReadBus.from_prefix(dut, "axi"), dut.clk, dut.reset, size=MEMORY_BYTES)
    ram.log.setLevel(logging.CRITICAL)
    if stall:
        ram.ar_channel.set_pause_generator(pauses(stall))
        ram.r_channel.set_pause_generator(pauses(stall, late))
    ram.write(0, generator().randbytes(MEMORY_BYTES))
    return ram


def write_ram(dut: Any, *, stall: float = 0.0, late: int = 1) -> FaultyRamWrite:
    """A memory of random bytes behind the write port `axi`; responses pause for up to `late` clocks at a time."""
    ram = FaultyRamWrite(AxiWriteBus.from_prefix(dut, "axi"), dut.clk, dut.reset, size=MEMORY_BYTES)
    ram.log.setLevel(logging.ERROR)
    if stall:
        ram.aw_channel.set_pause_generator(pauses(stall))
        ram.w_channel.set_pause_generator(pauses(stall))
        ram.b_channel.set_pause_generator(pauses(stall, late))
    ram.write(0, generator().randbytes(MEMORY_BYTES))
    return ram
