# SPDX-License-Identifier: BSD-2-Clause-Patent
"""GMII (IEEE 802.3 clause 35), byte by byte: a PHY that sends given frames, and one that records the frames that it receives."""

from __future__ import annotations

import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.queue import Queue
from cocotb.simtime import get_sim_time
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import bounded

PREAMBLE = bytes([0x55] * 7)
SFD = 0xD5
GAP = 12
SMALLEST = 60  # bytes without FCS


def now_ps() -> int:
    return int(get_sim_time("ps"))


def padded(frame: bytes) -> bytes:
    return frame.ljust(SMALLEST, b"\0")


def fcs(frame: bytes) -> bytes:
    """IEEE 802.3 3.2.9: the CRC-32 that zlib computes, its low byte first."""
    return zlib.crc32(frame).to_bytes(4, "little")


@dataclass
class Symbols:
    """The bytes on the pins for one frame with its SFD, and the idle clocks behind it."""

    data: bytes
    errors: frozenset[int] = frozenset()  # positions in `data` with RX_ER
    gap: int = GAP
    sfd_ps: int = field(default=0)  # when the first 0xD5 came to the pins


class GmiiSource:
    """The PHY's receive side: drives rxd, rx_dv and rx_er on rx_clk."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._queue: deque[Symbols] = deque()
        self._busy = False
        dut.gmii_rxd.value = 0
        dut.gmii_rx_dv.value = 0
        dut.gmii_rx_er.value = 0
        cocotb.start_soon(self._run())

    def put(
        self,
        frame: bytes,
        *,
        preamble: bytes = PREAMBLE,
        check: bytes | None = None,
        errors: frozenset[int] | None = None,
        gap: int = GAP,
    ) -> Symbols:
        """Queues a frame (which is not padded) with its FCS, or with `check` for one. Its `sfd_ps` is set when it is
        out."""
        data = preamble + bytes([SFD]) + frame + (fcs(frame) if check is None else check)
        return self.put_raw(data, errors=errors, gap=gap)

    def put_raw(self, data: bytes, *, errors: frozenset[int] | None = None, gap: int = GAP) -> Symbols:
        """Queues bytes as they are."""
        symbols = Symbols(data, errors or frozenset(), gap)
        self._queue.append(symbols)
        return symbols

    @property
    def idle(self) -> bool:
        return not self._queue and not self._busy

    async def _run(self) -> None:
        dut = self._dut
        edge = RisingEdge(dut.gmii_rx_clk)
        while True:
            if not self._queue:
                self._busy = False
                await edge
                continue
            self._busy = True
            symbols = self._queue.popleft()
            for position, byte in enumerate(symbols.data):
                dut.gmii_rxd.value = byte
                dut.gmii_rx_dv.value = 1
                dut.gmii_rx_er.value = int(position in symbols.errors)
                if byte == SFD and not symbols.sfd_ps:
                    symbols.sfd_ps = now_ps()
                await edge
            dut.gmii_rx_dv.value = 0
            dut.gmii_rx_er.value = 0
            for _ in range(symbols.gap):
                await edge


@dataclass
class Departed:
    """A frame that left: its bytes without FCS, when its SFD came to the pins, and the clocks since the frame before it
    ended."""

    frame: bytes
    sfd_ps: int
    gap: int | None
    fcs_right: bool


class GmiiSink:
    """The PHY's transmit side; looks at txd, tx_en and tx_er at each edge of gtx_clk."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self.frames: Queue[Departed] = Queue()
        cocotb.start_soon(self._run())

    def clear(self) -> None:
        """Forgets what was on the pins before the reset."""
        while not self.frames.empty():
            self.frames.get_nowait()

    async def receive(self, clocks: int = 10_000) -> Departed:
        if not self.frames.empty():
            return self.frames.get_nowait()
        return await bounded(self.frames.get(), "a frame on GMII", clocks)

    async def _run(self) -> None:
        dut = self._dut
        edge = RisingEdge(dut.gmii_gtx_clk)
        gap: int | None = None
        before = 0
        while True:
            await edge
            if dut.reset.value == 1:
                gap = None
            if dut.reset.value == 1 or dut.gmii_tx_en.value != 1:
                gap = gap + 1 if gap is not None else None
                before = now_ps()
                continue
            data = bytearray()
            sfd_ps = 0
            while dut.gmii_tx_en.value == 1:
                assert dut.gmii_tx_er.value == 0
                data.append(int(dut.gmii_txd.value))
                # A value that an edge reads came to the pins at the edge before.
                if len(data) == len(PREAMBLE) + 1:
                    sfd_ps = before
                before = now_ps()
                await edge
            before = now_ps()
            start = PREAMBLE + bytes([SFD])
            assert start.startswith(data[:8]), f"begins with {data[:8].hex()}"
            frame, check = bytes(data[8:-4]), bytes(data[-4:])
            self.frames.put_nowait(Departed(frame, sfd_ps, gap, check == fcs(frame)))
            gap = 1
