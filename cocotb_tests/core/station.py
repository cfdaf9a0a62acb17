# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A peer of packet pairs: it sees how they leave, says when they are acknowledged, and hears what the engine tells of
them."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from scapy.layers.inet import TCP

from cocotb_tests.bench import until
from cocotb_tests.bench.layout import element
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer
from sim.golden.congestion.seam import ProbeAck

PORT = 5001
MSS = 1460
OPTIONS: list[tuple[str, object]] = [("MSS", MSS), ("NOP", None), ("WScale", 7)]
SELECTIVE: list[tuple[str, object]] = [*OPTIONS, ("SAckOK", b"")]


async def opened(
    dut: Any, peer_class: type[Peer] = Peer, *, selective: bool = False, **parameters: Any
) -> tuple[Core, Any, int]:
    """An established connection: the core, its peer and the flow."""
    core = await Core.create(dut)
    peer = peer_class(core, port=PORT)
    core.connect(port=PORT, **parameters)
    await peer.accept_connection(SELECTIVE if selective else OPTIONS)
    flow = (await core.notified_of("established"))["status_reference_flow"]
    peer.send("A")  # the window of a SYN is not scaled: from here on it stays as it is
    await core.idle()
    return core, peer, flow


class ProbeResults:
    """Collects the measurements of probes from the trace of the engine."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.found: list[ProbeAck] = []
        cocotb.start_soon(self._watch())

    async def counted(self, wanted: int) -> None:
        await until(self.dut, lambda: len(self.found) == wanted, "a pair's results", 5000)

    async def _watch(self) -> None:
        trace = "trace_payload_congestion_probe_"
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.trace_valid.value == 1 and getattr(self.dut, trace + "answered").value == 1:
                fields = ("begins", "disturbed", "departureGap", "arrivalGap", "roundTrip")
                begins, disturbed, *times = (int(getattr(self.dut, trace + name).value) for name in fields)
                self.found.append(ProbeAck(bool(begins), bool(disturbed), *times))


class Station:
    """A peer whose wire has no delay of its own: frames depart when they were to, and its ACKs arrive when the test
    says."""

    def __init__(self, core: Core, peer: Peer) -> None:
        self.core = core
        self.peer = peer
        self.modes: list[int] = []
        self.previous = 0  # departure, 2^-16 ns

    async def data(self, *, late_by: int = 0) -> tuple[TCP, int]:
        """The next segment and its departure, ns; back to back is a frame's time on 1 Gb/s after the one before."""
        await something_leaves(self.core)
        frame = await self.core.wire_out.receive()
        user = frame.extras["user"]
        launch, mode, tag = user & (1 << 64) - 1, user >> 64 & 3, user >> 66 & 0xFFFF
        self.modes.append(mode)
        if mode == element("LaunchMode", "afterPrevious"):
            launch = self.previous + (8 * (len(frame.data) + 24) << 16)
        self.previous = launch + (late_by << 16)
        self.core.departures.put({"data": self.previous << 16 | tag})
        segment = TCP(frame.data[34:])
        return segment, self.previous >> 16

    def acknowledge(self, number: int, at: int) -> None:
        """An ACK whose SFD arrives at an instant, ns."""
        tcp = TCP(
            sport=self.peer.port,
            dport=self.peer.core_port,
            flags="A",
            seq=self.peer.sequence,
            ack=number % 2**32,
            window=65535,
        )
        self.peer.put(tcp, at << 16)


async def quiet(core: Core) -> bool:
    """Nothing more comes out."""
    await core.idle()
    return core.wire_out.stream.beats.empty()


async def something_leaves(core: Core) -> None:
    """Idle time is skipped until a frame comes out."""
    while await quiet(core):
        await core.jump()
