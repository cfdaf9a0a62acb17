# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The host's memory behind the core's two AXI4 masters, and a watch over the order of what they write."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Container
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiRamRead, AxiRamWrite, AxiReadBus, AxiWriteBus

from cocotb_tests.memory.axi import pauses
from cocotb_tests.memory.layout import MEMORY_BYTES

PAYLOAD_BASE = 0x12_3460_0000  # a multiple of MEMORY_BYTES, beyond 32 bits
RINGS_BASE = 0xFFF0_0000_0000
RINGS_BYTES = 1 << 16


class HostRamWrite(AxiRamWrite):  # type: ignore[misc]
    """At `base`; keeps what was written where, and answers SLVERR in `faults` and outside."""

    def __init__(self, *arguments: Any, base: int, **options: Any) -> None:
        self.base = base
        self.faults: Container[int] = ()
        self.outside: list[int] = []
        super().__init__(*arguments, **options)

    async def _write(self, address: int, data: bytes) -> None:
        at = address - self.base
        if not 0 <= at <= self.size - len(data):
            self.outside.append(address)
            raise ValueError("no memory there")
        if address - address % 8 in self.faults:
            raise ValueError("a fault that the test asked for")
        await super()._write(at, data)


class HostRamRead(AxiRamRead):  # type: ignore[misc]
    """At `base`; answers SLVERR in `faults` and outside."""

    def __init__(self, *arguments: Any, base: int, **options: Any) -> None:
        self.base = base
        self.faults: Container[int] = ()
        self.outside: list[int] = []
        super().__init__(*arguments, **options)

    async def _read(self, address: int, length: int) -> bytes:
        at = address - self.base
        if not 0 <= at <= self.size - length:
            self.outside.append(address)
            raise ValueError("no memory there")
        if address - address % 8 in self.faults:
            raise ValueError("a fault that the test asked for")
        data: bytes = await super()._read(at, length)
        return data


class HostMemory:
    """Payload and rings, with seeded pauses on every channel."""

    def __init__(self, dut: Any, *, stall: float = 0.0, late: int = 40) -> None:
        self.dut = dut
        self.payload, self._payload_reads = self._ram(dut, "m_axi", MEMORY_BYTES, PAYLOAD_BASE, stall, late)
        self.rings, self.ring_reads = self._ram(dut, "m_axi_host", RINGS_BYTES, RINGS_BASE, stall, late)
        self.payload.write(0, bytes(MEMORY_BYTES))
        self.rings.write(0, bytes(RINGS_BYTES))
        self.clock = 0
        self.written_at: dict[
            int, int
        ] = {}  # place of a payload word: the clock at which its first write response was taken
        self.issued: dict[int, int] = {}  # place of a notification: the clock at which its write was offered
        cocotb.start_soon(self._watch())

    @staticmethod
    def _ram(dut: Any, prefix: str, size: int, base: int, stall: float, late: int) -> tuple[HostRamWrite, HostRamRead]:
        writes = HostRamWrite(AxiWriteBus.from_prefix(dut, prefix), dut.clk, dut.reset, size=size, base=base)
        reads = HostRamRead(AxiReadBus.from_prefix(dut, prefix), dut.clk, dut.reset, mem=writes.mem, base=base)
        for side in (writes, reads):
            side.log.setLevel(logging.CRITICAL)
        if stall:
            for channel in (writes.aw_channel, writes.w_channel, reads.ar_channel):
                channel.set_pause_generator(pauses(stall))
            for channel in (writes.b_channel, reads.r_channel):
                channel.set_pause_generator(pauses(stall, late))
        return writes, reads

    async def _watch(self) -> None:
        """Notes when each payload write is answered, and when each notification is offered."""
        dut = self.dut
        bursts: deque[range] = deque()
        offered = False
        while True:
            await RisingEdge(dut.clk)
            self.clock += 1
            if dut.m_axi_awvalid.value == 1 and dut.m_axi_awready.value == 1:
                begin = int(dut.m_axi_awaddr.value)
                bursts.append(range(begin, begin + 8 * (int(dut.m_axi_awlen.value) + 1), 8))
            if dut.m_axi_bvalid.value == 1 and dut.m_axi_bready.value == 1:
                for address in bursts.popleft():
                    self.written_at.setdefault(address, self.clock)
            valid = dut.m_axi_host_awvalid.value == 1
            if valid and not offered:
                self.issued[int(dut.m_axi_host_awaddr.value)] = self.clock
            offered = valid and dut.m_axi_host_awready.value == 0

    def check(self) -> None:
        """No access went where no memory is."""
        sides = (self.payload, self._payload_reads, self.rings, self.ring_reads)
        assert [hex(address) for side in sides for address in side.outside] == []
