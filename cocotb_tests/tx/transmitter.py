# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The transmitter's neighbours: address table, memory, and the MAC."""

from __future__ import annotations

from typing import Any, NamedTuple

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.addresses import vlan_pins
from cocotb_tests.bench import (
    FrameSource,
    StreamMonitor,
    StreamSink,
    StreamSource,
    clocks,
    generator,
    start,
    until,
    watch_idle,
)
from cocotb_tests.tx import segment as model
from cocotb_tests.tx.segment import Segment


class Sent(NamedTuple):
    """A frame on `wire`."""

    data: bytes
    mode: int
    launch: tuple[int, int]
    tag: int


class Transmitter:
    """The device with all its neighbours; `latency` is the memory's, in clocks."""

    def __init__(self, dut: Any, *, stall: float, latency: int, mss: int) -> None:
        self.dut = dut
        self.mss = mss
        self.latency = latency
        self.random = generator()
        self.descriptors = StreamSource(dut, "descriptors", stall=stall)
        self.stateless_replies = StreamSource(dut, "statelessReplies", stall=stall)
        self.bypass = FrameSource(dut, "bypass", stall=stall)
        self.departures = StreamSource(dut, "departures")
        self.departed = StreamSink(dut, "departed", stall=stall)
        self.released = StreamMonitor(dut, "released")
        self.wire = StreamSink(dut, "wire", stall=stall)
        self.fetch = StreamSink(dut, "fetch", stall=stall)
        self.payload = StreamSource(dut, "payload", stall=stall)
        self.fetch_failures = StreamSink(dut, "fetchFailures", stall=stall)
        self.address_reads = 0
        self.width = self.wire.ports.widths["frame_data"] // 8  # bytes of a beat

    @classmethod
    async def create(cls, dut: Any, *, stall: float = 0.0, latency: int = 5, mss: int = 1460) -> Transmitter:
        bench = cls(dut, stall=stall, latency=latency, mss=mss)
        await start(dut, local_mac=model.LOCAL_MAC, local_ip=model.LOCAL_IP, payloadFailed=0, **vlan_pins())
        cocotb.start_soon(bench._address_table())
        cocotb.start_soon(bench._memory())
        inputs = [f"{name}_valid" for name in ("descriptors", "statelessReplies", "bypass", "departures")]
        outputs = [f"{name}_valid" for name in ("wire", "fetch", "departed", "released")]
        cocotb.start_soon(watch_idle(dut, inputs, outputs))
        return bench

    def send(self, *segments: Segment) -> None:
        self.descriptors.put(*(segment.beat() for segment in segments))

    async def receive(self, clocks: int = 10_000) -> Sent:
        """The next whole frame on the wire."""
        data, before = bytearray(), None
        while True:
            beat = await self.wire.receive(clocks)
            keep, last = beat["frame_keep"], beat["frame_last"]
            count = keep.bit_length()
            assert keep == (1 << count) - 1, f"keep {keep:#x} has holes"
            assert last or count == self.width, f"keep {keep:#x} before the last beat"
            data += beat["frame_data"].to_bytes(self.width, "little")[:count]
            tells = beat["mode"], (beat["launch_ns"], beat["launch_fraction"]), beat["tag"]
            assert before in (None, tells), "mode, launch or tag changed within a frame"
            before = tells
            if last:
                return Sent(bytes(data), *tells)

    async def expect(self, segment: Segment) -> Sent:
        """The next frame is this segment's."""
        sent = await self.receive()
        assert sent.data == segment.frame(self.mss), f"not the frame of {segment}: {sent.data.hex()}"
        assert sent.mode == segment.mode
        if not segment.immediate:
            assert sent.launch == segment.launch
        assert bool(sent.tag) == segment.stamped
        return sent

    async def quiet(self) -> None:
        """All has left, and nothing moves any more."""
        sources = [self.descriptors, self.stateless_replies, self.bypass.stream, self.departures]

        def done() -> bool:
            return self.dut.idle.value == 1 and all(source.idle for source in sources)

        await until(self.dut, done, "idle")
        count = self.wire.count
        await clocks(self.dut, 50)
        assert done()
        assert self.wire.count == count

    async def _address_table(self) -> None:
        fields = {"remoteMac": 48, "remoteIp": 32, "remotePort": 16, "localPort": 16, "passive": 1, "request": 16}
        fields |= {"vlan": 2, "service_differentiatedServices": 6, "service_timeToLive": 8}
        while True:
            await RisingEdge(self.dut.clk)
            # The answer stands for one clock only.
            values = {name: self.random.getrandbits(bits) for name, bits in fields.items()}
            if self.dut.addressRead_enable.value == 1:
                self.address_reads += 1
                peer = model.PEERS[int(self.dut.addressRead_flow.value)]
                values |= {"remoteMac": peer.mac, "remoteIp": peer.ip, "vlan": peer.vlan}
                values |= {"remotePort": peer.remote_port, "localPort": peer.local_port}
                values |= {"service_timeToLive": peer.time_to_live}
                values |= {"service_differentiatedServices": peer.differentiated_services}
            for name, value in values.items():
                getattr(self.dut, f"addressRead_addresses_{name}").value = value

    async def _memory(self) -> None:
        while True:
            request = await self.fetch.receive(clocks=10_000_000)
            cocotb.start_soon(self._respond(request))

    async def _respond(self, request: dict[str, int]) -> None:
        if self.latency:
            await clocks(self.dut, self.latency)
        data = model.payload(request["flow"], request["sequence_value"], request["length"])
        assert data, "a fetch of nothing"
        for at in range(0, len(data), self.width):
            part = data[at : at + self.width]
            noise = self.random.randbytes(self.width - len(part))
            self.payload.put(
                {
                    "data": int.from_bytes(part + noise, "little"),
                    "keep": (1 << len(part)) - 1,
                    "last": int(at + self.width >= len(data)),
                }
            )
