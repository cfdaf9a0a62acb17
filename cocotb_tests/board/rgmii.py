# SPDX-License-Identifier: BSD-2-Clause-Patent
"""RGMII 2.0 at its pins, nibble by nibble: a PHY's receive side and its transmit side."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import FallingEdge, RisingEdge

from cocotb_tests.bench import bounded
from cocotb_tests.mac.gmii import PREAMBLE, SFD, Departed, fcs, now_ps

# The pins change with `wire_clk`; `late_clk` has its edges 2 ns later, in the middle of each nibble.


class RgmiiSource:
    """Frames to the board: low nibble with the rising edge, high one with the falling edge."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        dut.rx_ctl.value = 0
        dut.rxd.value = 0

    async def send(self, frame: bytes, *, check: bytes | None = None, error: bool = False, gap: int = 12) -> int:
        """Returns when the gap is over; the time in ps at which the SFD's first nibble came to the pins."""
        dut, sfd_ps = self._dut, 0
        for byte in PREAMBLE + bytes([SFD]) + frame + (fcs(frame) if check is None else check):
            await RisingEdge(dut.wire_clk)
            dut.rxd.value = byte & 15
            dut.rx_ctl.value = 1
            if byte == SFD and not sfd_ps:
                sfd_ps = now_ps()
            await FallingEdge(dut.wire_clk)
            dut.rxd.value = byte >> 4
            dut.rx_ctl.value = int(not error)  # valid xor error
        for _ in range(gap):
            await RisingEdge(dut.wire_clk)
            dut.rx_ctl.value = 0
            dut.rxd.value = 0
        return sfd_ps


class RgmiiSink:
    """Frames that left."""

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self.frames: Queue[Departed] = Queue()
        cocotb.start_soon(self._run())

    async def receive(self, clocks: int = 10_000) -> Departed:
        return await bounded(self.frames.get(), "a frame on RGMII", clocks)

    async def _run(self) -> None:
        dut = self._dut
        while True:
            await RisingEdge(dut.tx_ctl)
            data, sfd_ps = bytearray(), 0
            while True:
                await RisingEdge(dut.late_clk)
                assert dut.tx_clk.value == 1, "TX_CLK rises with the low nibble"
                if dut.tx_ctl.value == 0:
                    break
                low = int(dut.txd.value)
                await FallingEdge(dut.late_clk)
                assert dut.tx_ctl.value == 1, "no transmit error"
                data.append(int(dut.txd.value) << 4 | low)
                if data[-1] == SFD and not sfd_ps:
                    sfd_ps = now_ps() - 6000  # the rising edge of wire_clk
            assert data.startswith(PREAMBLE + bytes([SFD])), data[:8].hex()
            frame, check = bytes(data[8:-4]), bytes(data[-4:])
            self.frames.put_nowait(Departed(frame, sfd_ps, None, check == fcs(frame)))
