# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The whole core between two hands: an application's on one side, a peer's wire on the other.

Time is the bench's: it goes with the clock while something moves, and while the core is idle a test may let it jump.
"""

from __future__ import annotations

from typing import Any, Self

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from cocotb_tests.addresses import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC
from cocotb_tests.bench import AXI_STREAM, CLOCK_NS, FrameSink, FrameSource, StreamSink, StreamSource, start, until
from cocotb_tests.bench.layout import pack, policy, unpack

GATEWAY_IP = "10.0.0.254"
NEVER = (1 << 48) - 1
FIRST_NS = 1_000_000


def mac_number(mac: str) -> int:
    return int(mac.replace(":", ""), 16)


def ip_number(ip: str) -> int:
    return int.from_bytes(bytes(map(int, ip.split("."))), "big")


ADDRESSES = {
    "local_mac": mac_number(CORE_MAC),
    "local_ip": ip_number(CORE_IP),
    "local_netmask": ip_number("255.255.255.0"),
    "local_gateway": ip_number(GATEWAY_IP),
    "secret": 0x0123456789ABCDEF_FEDCBA9876543210,
}


class Core:
    """Drivers of every port of the core, and what an application keeps of its connections."""

    def __init__(self, dut: Any, stall: float) -> None:
        self.dut = dut
        self.now = FIRST_NS  # ns; it goes on where the core's 48 bits wrap
        self._attach_wire(stall)
        self.bypass_in = FrameSource(dut, "s_axis_bypass_tx", naming=AXI_STREAM, stall=stall)
        self.bypass_out = FrameSink(dut, "m_axis_bypass_rx", naming=AXI_STREAM, stall=stall)
        self.commands = StreamSource(dut, "s_axis_command", naming=AXI_STREAM, stall=stall)
        self.notifications = StreamSink(dut, "m_axis_notification", naming=AXI_STREAM, stall=stall)
        if hasattr(dut, "m_axis_path_report_tready"):
            dut.m_axis_path_report_tready.value = 1  # a test that wants the reports reads them there
        self.writes = FrameSource(dut, "s_axis_tx", naming=AXI_STREAM, stall=stall)
        self.reads = FrameSink(dut, "m_axis_rx", naming=AXI_STREAM, stall=stall)

    def _attach_wire(self, stall: float) -> None:
        dut = self.dut
        self.wire_in = FrameSource(dut, "s_axis_wire_rx", naming=AXI_STREAM, stall=stall)
        self.wire_out = FrameSink(dut, "m_axis_wire_tx", naming=AXI_STREAM, stall=stall)
        self.departures = StreamSource(dut, "s_axis_departure", naming=AXI_STREAM, stall=stall)
        if hasattr(dut, "s_axis_neighbour_tvalid"):  # not where registers drive it
            self.statics = StreamSource(dut, "s_axis_neighbour", naming=AXI_STREAM, stall=stall)

    @classmethod
    async def create(cls, dut: Any, *, stall: float = 0.0, knows_peer: bool = True) -> Core:
        """After reset; unless it shall ask for the peer it has a static entry for it."""
        core = await cls.begin(dut, stall=stall, **ADDRESSES)
        if knows_peer:
            core.know(PEER_IP, PEER_MAC)
            await core.statics.drained()
        await until(dut, lambda: dut.idle.value == 1, "the core to be idle after reset")
        return core

    @classmethod
    async def begin(cls, dut: Any, *, stall: float = 0.0, **pins: int) -> Self:
        """Just out of reset; `pins` are the inputs that no driver owns."""
        core = cls(dut, stall)
        cocotb.start_soon(core._time())
        await start(dut, **pins)
        return core

    async def _time(self) -> None:
        while True:
            self.dut.now.value = self.stamp
            await FallingEdge(self.dut.clk)
            self.now += CLOCK_NS

    @property
    def stamp(self) -> int:
        """Now, as the core has it: 2^-16 ns, 64 bits."""
        return (self.now << 16) % 2**64

    async def idle(self, clocks: int = 20_000) -> None:
        """Waits until nothing moves; what was just put is offered a clock late, and the core says so two clocks
        later."""
        for _ in range(3):
            await RisingEdge(self.dut.clk)
        await until(self.dut, lambda: self.dut.idle.value == 1, "the core to be idle", clocks)

    async def advance(self, to: int) -> None:
        """From idle to an instant, which may be days ahead, ns; what is due on the way comes late."""
        while self.now < to:
            await self.idle()
            self.now = max(self.now, min(to, self.now + 2**46))
            await RisingEdge(self.dut.clk)

    async def jump(self) -> int:
        """From idle to the next deadline; returns the time that went by, ns."""
        await self.idle()
        deadline = int(self.dut.nextDeadline.value)
        assert deadline != NEVER, "the core is idle and waits for nothing"
        ahead = (deadline - self.now) % 2**48
        passed = ahead if ahead < 2**47 else 0
        self.now += passed
        await RisingEdge(self.dut.clk)
        return passed

    def know(self, ip: str, mac: str, *, vlan: int = 0) -> None:
        """A static neighbour."""
        self.statics.put({"data": vlan << 81 | mac_number(mac) << 32 | ip_number(ip)})

    # ---- the application's hand

    def command(self, kind: str, **fields: int | str) -> None:
        self.commands.put({"data": pack("Command", kind=kind, **fields)})

    def connect(
        self,
        *,
        port: int,
        request: int = 1,
        ssthresh: int = 65536,
        initial_window: int = 10,
        spacing: int = 0,
        no_delay: int = 0,
        user_timeout: int = 0,
        ecn: int = 0,
        startup: str = "standard",
        startup_argument: int = 0,
        steady: str = "reno",
        steady_argument: int = 0,
        **others: int,
    ) -> None:
        self.command(
            "open",
            request=request,
            remoteIp=ip_number(PEER_IP),
            remotePort=port,
            parameters_ssthresh=ssthresh,
            parameters_initialWindow=initial_window,
            parameters_spacing=spacing,
            parameters_noDelay=no_delay,
            parameters_userTimeout=user_timeout,
            parameters_ecn=ecn,
            parameters_startup=policy("StartupPolicy", startup),
            parameters_startupArgument=startup_argument,
            parameters_steady=policy("SteadyPolicy", steady),
            parameters_steadyArgument=steady_argument,
            **others,
        )

    def listen(self, port: int, **others: int) -> None:
        self.command("listen", localPort=port, parameters_ssthresh=65536, parameters_initialWindow=10, **others)

    async def notified(self, clocks: int = 20_000) -> dict[str, Any]:
        return unpack("Notification", (await self.notifications.receive(clocks))["data"])

    async def notified_of(self, state: str, clocks: int = 20_000) -> dict[str, Any]:
        """The first notification that says `state`; those before it are passed over."""
        while True:
            notification = await self.notified(clocks)
            if notification["status_state"] == state and not notification["refused"]:
                return notification

    def write(self, flow: int, data: bytes) -> None:
        self.writes.put(data, dest=flow)

    async def read(self, flow: int, length: int) -> bytes:
        """Asks for `length` bytes, which must be there."""
        self.command("receive", flow=flow, length=length)
        frame = await self.reads.receive()
        assert frame.extras["dest"] == flow
        return frame.data


__all__ = ["ADDRESSES", "CORE_IP", "CORE_MAC", "NEVER", "PEER_IP", "PEER_MAC", "Core"]
