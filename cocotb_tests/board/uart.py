# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A UART, 8N1, bit by bit: the host's end of a board's."""

from __future__ import annotations

from collections import deque
from typing import Any

import cocotb
from cocotb.task import resume
from cocotb.triggers import Event, FallingEdge, Timer

from cocotb_tests.bench import bounded

CLOCKS_A_BIT = 16  # as the board's core has it in Board.simulated


class UartHost:
    """`period_ps`: of the core's clock. As a line of downbeat_toe.board.bone it may be used from a `bridge`d
    function."""

    def __init__(self, dut: Any, period_ps: int) -> None:
        self._dut = dut
        self._bit_ps = CLOCKS_A_BIT * period_ps
        self._received: deque[int] = deque()
        self._came = Event()
        dut.uart_rxd.value = 1
        cocotb.start_soon(self._listen())

    async def send(self, data: bytes) -> None:
        for byte in data:
            for bit in [0, *(byte >> i & 1 for i in range(8)), 1]:
                self._dut.uart_rxd.value = bit
                await Timer(self._bit_ps, "ps")

    async def receive(self, count: int) -> bytes:
        while len(self._received) < count:
            self._came.clear()
            await bounded(self._came.wait(), f"byte {len(self._received) + 1} of {count} on the UART", 20_000)
        return bytes(self._received.popleft() for _ in range(count))

    @property
    def waiting(self) -> int:
        """Bytes that nobody has received yet."""
        return len(self._received)

    @property
    def silent(self) -> bool:
        return not self._received

    async def response(self, request: bytes, count: int) -> bytes:
        await self.send(request)
        return await self.receive(count)

    @resume
    async def exchange(self, request: bytes, length: int) -> bytes:
        return await self.response(request, length)

    async def _listen(self) -> None:
        while True:
            await FallingEdge(self._dut.uart_txd)
            await Timer(self._bit_ps * 3 // 2, "ps")
            byte = 0
            for bit in range(8):
                byte |= int(self._dut.uart_txd.value) << bit
                await Timer(self._bit_ps, "ps")
            assert self._dut.uart_txd.value == 1, "a stop bit"
            self._received.append(byte)
            self._came.set()
