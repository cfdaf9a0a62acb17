# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core with registers and MAC: as Core, but its wire is GMII, and its time its own."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import RisingEdge

from cocotb_tests.bench import until
from cocotb_tests.bench.frames import Frame
from cocotb_tests.core.core import Core
from cocotb_tests.mac.gmii import GmiiSink, GmiiSource
from cocotb_tests.mac.mac import PERIOD_PS, clock
from cocotb_tests.registers.bus import Registers
from cocotb_tests.registers.set_up import set_up


class WireIn:
    """Frames to the PHY's receive side, as FrameSource takes them; the MAC has stamps of its own."""

    def __init__(self, dut: Any) -> None:
        self.phy = GmiiSource(dut)

    def put(self, data: bytes, **_: int) -> None:
        self.phy.put(data)


class WireOut:
    """Frames that left, as FrameSink gives them; `sfd_ps` are the times of their SFDs."""

    def __init__(self, dut: Any) -> None:
        self.phy = GmiiSink(dut)
        self.sfd_ps: list[int] = []

    async def receive(self, clocks: int = 20_000) -> Frame:
        departed = await self.phy.receive(clocks)
        assert departed.fcs_right
        self.sfd_ps.append(departed.sfd_ps)
        return Frame(departed.frame, {"user": 0})


class GmiiCore(Core):
    wire_in: Any
    wire_out: Any

    def _attach_wire(self, stall: float) -> None:
        self.wire_in, self.wire_out = WireIn(self.dut), WireOut(self.dut)

    async def _time(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.reset.value == 0:
                self.now = int(self.dut.time_now.value) >> 16

    @classmethod
    async def running(
        cls, dut: Any, *, transmit: int = PERIOD_PS, receive: int = PERIOD_PS, knows_peer: bool = True
    ) -> tuple[GmiiCore, Registers]:
        """Set up by its registers; `transmit` and `receive` are the periods of the wire's clocks, ps."""
        registers = Registers(dut)
        clock(dut.gmii_gtx_clk, transmit)
        clock(dut.gmii_rx_clk, receive)
        core = await cls.begin(dut, link_up=1)
        await set_up(registers, knows_peer=knows_peer)
        await until(dut, lambda: dut.core_reset.value == 0, "the core to leave reset")
        await core.idle()
        return core, registers
