# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core with registers and MAC: as Core, but its wire is GMII or XGMII, and its time its own."""

from __future__ import annotations

from typing import Any, Self

from cocotb.triggers import RisingEdge

from cocotb_tests.bench import until
from cocotb_tests.bench.frames import Frame
from cocotb_tests.core.core import Core
from cocotb_tests.mac import xgmii
from cocotb_tests.mac.gmii import GmiiSink, GmiiSource
from cocotb_tests.mac.mac import PERIOD_PS, clock
from cocotb_tests.registers.bus import Registers
from cocotb_tests.registers.set_up import set_up


class WireIn:
    """Frames to the PHY's receive side, as FrameSource takes them; the MAC has stamps of its own."""

    def __init__(self, phy: Any) -> None:
        self.phy = phy

    def put(self, data: bytes, **_: int) -> None:
        self.phy.put(data)


class WireOut:
    """Frames that left, as FrameSink gives them; `sfd_ps` are the times of their SFDs."""

    def __init__(self, phy: Any) -> None:
        self.phy = phy
        self.sfd_ps: list[int] = []

    async def receive(self, clocks: int = 20_000) -> Frame:
        departed = await self.phy.receive(clocks)
        assert departed.fcs_right
        self.sfd_ps.append(departed.sfd_ps)
        return Frame(departed.frame, {"user": 0})


class GmiiCore(Core):
    wire_in: Any
    wire_out: Any
    clock_pins = ("gmii_gtx_clk", "gmii_rx_clk")
    period_ps = PERIOD_PS

    def _attach_wire(self, stall: float) -> None:
        self.wire_in, self.wire_out = WireIn(GmiiSource(self.dut)), WireOut(GmiiSink(self.dut))

    async def _time(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.reset.value == 0:
                self.now = int(self.dut.time_now.value) >> 16

    @classmethod
    async def running(
        cls, dut: Any, *, transmit: int = 0, receive: int = 0, knows_peer: bool = True
    ) -> tuple[Self, Registers]:
        """Set up by its registers; `transmit` and `receive` are the periods of the wire's clocks, ps; 0: the nominal one."""
        registers = Registers(dut)
        for pin, period in zip(cls.clock_pins, (transmit, receive), strict=True):
            clock(getattr(dut, pin), period or cls.period_ps)
        core = await cls.begin(dut, link_up=1)
        await set_up(registers, knows_peer=knows_peer)
        await until(dut, lambda: dut.core_reset.value == 0, "the core to leave reset")
        await core.idle()
        return core, registers


class XgmiiCore(GmiiCore):
    clock_pins = ("xgmii_tx_clk", "xgmii_rx_clk")
    period_ps = xgmii.PERIOD_PS

    def _attach_wire(self, stall: float) -> None:
        dut = self.dut
        self.wire_in = WireIn(xgmii.XgmiiWireIn(dut.xgmii_rxd, dut.xgmii_rxc, dut.xgmii_rx_clk))
        self.wire_out = WireOut(xgmii.XgmiiWireOut(dut.xgmii_txd, dut.xgmii_txc, dut.xgmii_tx_clk))
