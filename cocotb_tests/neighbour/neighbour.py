# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The bench of the module Neighbour: a network of scapy's on one side, applications that open connections on the
other."""

from __future__ import annotations

from typing import Any

from cocotb.triggers import RisingEdge
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet

from cocotb_tests.addresses import CORE_IP, CORE_MAC, VLANS, vlan_pins
from cocotb_tests.bench import FrameSink, FrameSource, StreamSink, StreamSource, start
from cocotb_tests.pacing.virtual_time import VirtualTime

MAC, ADDRESS = CORE_MAC, CORE_IP
NETMASK, GATEWAY = "255.255.255.0", "10.0.0.254"
BROADCAST = "ff:ff:ff:ff:ff:ff"
SECOND = 10**9  # ns
FIRST_NS = (1 << 48) - 30 * SECOND  # time wraps in the middle of most tests
REASONS = (
    "none",
    "finished",
    "refused",
    "reset",
    "timedOut",
    "aborted",
    "outOfResources",
    "addressInUse",
    "memoryError",
    "unreachable",
)


def number(address: str) -> int:
    """A MAC or IP address as an integer, first byte of the wire uppermost."""
    parts = [int(part, 16) for part in address.split(":")] if ":" in address else map(int, address.split("."))
    return int.from_bytes(bytes(parts), "big")


def address_of(ip: int) -> str:
    return ".".join(str(part) for part in ip.to_bytes(4, "big"))


def text_of(mac: int) -> str:
    return ":".join(f"{part:02x}" for part in mac.to_bytes(6, "big"))


def mac_of(address: str) -> str:
    """The MAC that our made-up network gives to an address."""
    return "02:aa:" + ":".join(f"{int(part):02x}" for part in address.split("."))


class Neighbourhood:
    def __init__(self, dut: Any, *, stall: float = 0.0) -> None:
        self.dut = dut
        self.time = VirtualTime(dut, FIRST_NS)
        self.control = FrameSource(dut, "control", stall=stall)
        self.frames = FrameSink(dut, "frames", stall=stall)
        self.statics = StreamSource(dut, "statics")
        self.opens = StreamSource(dut, "opens")
        self.resolved = StreamSink(dut, "resolved", stall=stall)
        self.refused = StreamSink(dut, "refused", stall=stall)
        self.moves = StreamSink(dut, "moves", stall=stall)
        self.reports = StreamSink(dut, "icmpErrors", stall=stall)

    @classmethod
    async def create(
        cls, dut: Any, *, netmask: str = NETMASK, gateway: str = GATEWAY, stall: float = 0.0
    ) -> Neighbourhood:
        hood = cls(dut, stall=stall)
        addresses = {"local_mac": number(MAC), "local_ip": number(ADDRESS)}
        network = {"network_netmask": number(netmask), "network_gateway": number(gateway)}
        await start(dut, **addresses, **network, **vlan_pins(), **hood.time.inputs)
        return hood

    # ---- the network

    def put(self, frame: Packet | bytes, *, pad: bool = True, arp: bool | None = None, vlan: int = 0) -> None:
        """A frame arrives, as the filter hands it on; `vlan` is its network's place in the table, from 1 on."""
        raw = bytes(frame)
        is_arp = raw[12:14] == b"\x08\x06" if arp is None else arp
        padded = raw.ljust(60, b"\0") if pad else raw
        if vlan:
            padded = padded[:12] + b"\x81\0" + VLANS[vlan - 1][0].to_bytes(2, "big") + padded[12:]
        self.control.put(padded, isArp=int(is_arp), frame_vlan=vlan)

    def reply(self, address: str, mac: str | None = None) -> None:
        """The neighbour tells us its MAC."""
        sender = mac or mac_of(address)
        self.put(
            Ether(src=sender, dst=MAC) / ARP(op="is-at", hwsrc=sender, psrc=address, hwdst=MAC, pdst=ADDRESS),
        )

    def request(self, address: str, mac: str | None = None, **fields: Any) -> None:
        """A neighbour asks for us."""
        sender = mac or mac_of(address)
        arp = {"op": "who-has", "hwsrc": sender, "psrc": address, "pdst": ADDRESS} | fields
        self.put(Ether(src=sender, dst=BROADCAST) / ARP(**arp))

    async def sent(self, clocks: int = 4000) -> Packet:
        """The next frame that leaves."""
        raw = (await self.frames.receive(clocks)).data
        assert len(raw) >= 60, "a runt"
        return Ether(raw)

    async def next_request(self) -> str:
        """The next frame, a request for an address, right in every field."""
        packet = await self.sent()
        assert (packet.src, packet.dst, packet.type) == (MAC, BROADCAST, 0x0806)
        fields: ARP = packet[ARP]
        assert (fields.hwtype, fields.ptype, fields.hwlen, fields.plen, fields.op) == (1, 0x0800, 6, 4, 1)
        assert (fields.hwsrc, fields.psrc, fields.hwdst) == (MAC, ADDRESS, "00:00:00:00:00:00")
        return str(fields.pdst)

    # ---- the applications

    def open(self, address: str, request: int = 1, **fields: int) -> None:
        given = {"remoteIp": number(address), "remotePort": 80, "request": request} | fields
        self.opens.put(dict.fromkeys(self.opens.ports.fields, 0) | given)

    async def opened(self) -> tuple[int, int]:
        """The next open that goes on: its request and its next hop's MAC."""
        beat = await self.resolved.receive(4000)
        return beat["request"], beat["remoteMac"]

    async def turned_down(self) -> tuple[int, str]:
        beat = await self.refused.receive(4000)
        return beat["request"], REASONS[beat["reason"]]

    def enter(self, address: str, mac: str | None = None, *, remove: bool = False, vlan: int = 0) -> None:
        """A static entry."""
        self.statics.put(
            {"ip": number(address), "mac": number(mac or mac_of(address)), "remove": int(remove), "vlan": vlan}
        )

    # ---- the bench

    async def quiet(self) -> None:
        """All that was put has gone its way."""
        for source in (self.control, self.statics, self.opens):
            await source.drained(20_000)
        await RisingEdge(self.dut.clk)
        await self.time.quiet()

    async def sleep(self, ns: int) -> None:
        """Time goes by in jumps to what the module says is next, never past it."""
        end = self.time.ns + ns
        await self.quiet()
        while (at := self.time.next()) is not None and at <= end:
            self.time.set(max(at, self.time.ns))
            await self.quiet()
        self.time.set(end)
        await self.quiet()

    def moved(self) -> list[tuple[str, str]]:
        """Addresses and MACs that running connections have been given."""
        return [(address_of(beat["ip"]), text_of(beat["mac"])) for beat in self.moves.pending()]

    def nothing_else(self) -> None:
        for sink in (self.frames.stream, self.resolved, self.refused, self.reports):
            assert sink.pending() == []

    def drops(self) -> dict[str, int]:
        """The counters that are not zero."""
        names = [name for name in dir(self.dut) if name.startswith("drops_")]
        counts = {name.removeprefix("drops_"): int(getattr(self.dut, name).value) for name in names}
        return {name: count for name, count in counts.items() if count}
