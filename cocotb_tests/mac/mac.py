# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The bench of the MACs: the PHY at the one side, the core at the other, three clocks."""

from __future__ import annotations

from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from cocotb_tests.bench import FrameSink, FrameSource, StreamMonitor, until
from cocotb_tests.bench.frames import Frame
from cocotb_tests.bench.wait import DEFAULT_CLOCKS
from cocotb_tests.mac import xgmii
from cocotb_tests.mac.gmii import GmiiSink, GmiiSource

PERIOD_PS = 8000
NOMINAL = 8 << 32
LARGEST = 1514  # bytes without FCS
AT, ASAP, AFTER_PREVIOUS = 0, 1, 2


def clock(pin: Any, period_ps: int) -> Clock:
    made = Clock(pin, period_ps, unit="ps", period_high=period_ps // 2)
    made.start()
    return made


class Arrivals(FrameSink):
    """Frames as they come from the MAC."""

    async def receive(self, clocks: int = DEFAULT_CLOCKS) -> Frame:
        """The next one that is not damaged."""
        while (frame := await self.receive_any(clocks)).extras["error"]:
            pass
        return frame

    async def receive_any(self, clocks: int = DEFAULT_CLOCKS) -> Frame:
        return await super().receive(clocks)


class Mac:
    """The MAC at 1 Gb/s. Periods in ps; the simulator's step of one makes 125 ppm of eight nanoseconds."""

    wire_in: Any
    wire_out: Any
    nominal = NOMINAL

    def __init__(
        self,
        dut: Any,
        *,
        stall: float = 0.0,
        core: int = PERIOD_PS,
        transmit: int = PERIOD_PS,
        receive: int = PERIOD_PS,
    ) -> None:
        self.dut = dut
        self.periods = (core, transmit, receive)
        self.clock_pins = self._attach_wire()
        self.receive = Arrivals(dut, "receive", stall=stall)
        self.transmit = FrameSource(dut, "transmit")
        self.departures = StreamMonitor(dut, "departures")
        self.wire_clock: Clock  # the receive side's

    def _attach_wire(self) -> tuple[Any, Any]:
        """The pins of the transmit and the receive clock."""
        self.wire_in, self.wire_out = GmiiSource(self.dut), GmiiSink(self.dut)
        return self.dut.gmii_gtx_clk, self.dut.gmii_rx_clk

    async def start(self, *, link: int = 1, increment: int | None = None) -> None:
        dut = self.dut
        dut.increment.value = increment or self.nominal
        dut.linkUp.value = link
        dut.softReset.value = 0
        for pin in TIME_INPUTS:
            getattr(dut, pin).value = 0
        dut.reset.value = 1
        clocks = [clock(pin, period) for pin, period in zip((dut.clk, *self.clock_pins), self.periods, strict=True)]
        self.wire_clock = clocks[2]
        await ClockCycles(dut.clk, 8)
        dut.reset.value = 0
        await ClockCycles(dut.clk, 32)
        self.wire_out.clear()

    def send(self, frame: bytes, *, mode: int = ASAP, launch: int = 0, tag: int = 0, known: bool = False) -> None:
        """Queues a frame for the gate; `launch` in 2^-16 ns. `known`: the first beat says how long it is."""
        self.transmit.put(
            frame,
            mode=mode,
            launch_ns=(launch >> 16) % (1 << 48),
            launch_fraction=launch & 0xFFFF,
            tag=tag,
            lastByte=(len(frame) - 1) * known,
        )

    @property
    def now(self) -> int:
        """The core's copy of the time, in 2^-16 ns."""
        return int(self.dut.now_ns.value) << 16 | int(self.dut.now_fraction.value)

    async def departure(self) -> tuple[int, int]:
        """Tag and stamp, in 2^-16 ns, of the next departure."""
        beat = await self.departures.receive()
        return beat["tag"], beat["stamp_ns"] << 16 | beat["stamp_fraction"]

    async def wire_done(self) -> None:
        """All that was put on the wire has been counted or has reached the core."""
        await until(self.dut, lambda: self.wire_in.idle, "the wire to become idle", 200_000)
        await ClockCycles(self.dut.clk, 400)

    async def soft_reset(self) -> None:
        self.dut.softReset.value = 1
        await RisingEdge(self.dut.clk)
        self.dut.softReset.value = 0
        await ClockCycles(self.dut.clk, 80)

    def counters(self, side: str) -> dict[str, int]:
        """The counters of that side that are not zero."""
        prefix = f"counters_{side}_"
        counts = {name: int(getattr(self.dut, prefix + name).value) for name in COUNTERS[side]}
        return {name: count for name, count in counts.items() if count}


class XgmiiMac(Mac):
    """The MAC at 10 Gb/s."""

    period_ps = xgmii.PERIOD_PS
    nominal = (64 << 32) // 10

    def __init__(
        self,
        dut: Any,
        *,
        stall: float = 0.0,
        core: int = period_ps,
        transmit: int = period_ps,
        receive: int = period_ps,
    ) -> None:
        super().__init__(dut, stall=stall, core=core, transmit=transmit, receive=receive)

    def _attach_wire(self) -> tuple[Any, Any]:
        dut = self.dut
        _, transmit, receive = self.periods
        self.wire_in = xgmii.XgmiiWireIn(dut.xgmii_rxd, dut.xgmii_rxc, dut.xgmii_rx_clk, receive)
        self.wire_out = xgmii.XgmiiWireOut(dut.xgmii_txd, dut.xgmii_txc, dut.xgmii_tx_clk, transmit)
        return dut.xgmii_tx_clk, dut.xgmii_rx_clk


# The ports that set and compare the time stay idle here (cocotb_tests/mac/test_wire_time.py tests them).
TIME_INPUTS = (
    *(f"time_{name}" for name in ("jump_valid", "slew_valid", "pulses_valid", "follow", "sample", "events_ready")),
    *("pulseIn", "externalClock", "externalTime_valid"),
)

COUNTERS = {
    "receive": ("frames", "linkDown", "rxError", "runt", "oversize", "badFcs", "pause", "overflow", "reset"),
    "transmit": ("frames", "oversize", "linkDown", "reset", "lateArrived", "lateInverted", "lateBusy"),
    "fault": ("local", "remote"),
}


def stamp_of(extras: dict[str, int]) -> int:
    """A received frame's stamp in 2^-16 ns."""
    return extras["stamp_ns"] << 16 | extras["stamp_fraction"]


class WireTime:
    """The time at the transmit pins, as a function of the simulator's, from one departure."""

    def __init__(self, mac: Mac, increment: int) -> None:
        self._mac, self._increment = mac, increment
        self._stamp = self._sfd_ps = 0

    async def find(self) -> None:
        self._mac.send(bytes(60), tag=1)
        self._sfd_ps = (await self._mac.wire_out.receive()).sfd_ps
        self._stamp = (await self._mac.departure())[1]

    def at(self, instant_ps: int) -> float:
        """In ns; a clock's step drawn as a slope."""
        clocks = (instant_ps - self._sfd_ps) / self._mac.periods[1]
        return self._stamp / 65536 + clocks * self._increment / (1 << 32)
