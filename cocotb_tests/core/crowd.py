# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Many connections at once: honest peers behind a wire that loses frames, and an application that reads only
its notifications."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from cocotb_tests.bench.layout import unpack
from cocotb_tests.core.core import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC, Core

LISTEN_PORT = 80
OVER = ("closed", "timeWait")
MODULUS = 2**32


@dataclass
class Stream:
    """Bytes of one direction: what was given to the sender, and what has arrived."""

    given: bytearray = field(default_factory=bytearray)
    arrived: bytearray = field(default_factory=bytearray)


@dataclass
class Connection:
    """Both ends' view; the peer is an endpoint that acknowledges each segment and sends again when all is quiet."""

    peer_port: int
    core_port: int
    to_core: Stream = field(default_factory=Stream)
    to_peer: Stream = field(default_factory=Stream)
    # The peer
    first: int = 0  # its initial sequence number
    acknowledged: int = 0  # bytes of to_core that the core has acknowledged; SYN and FIN apart
    expected: int | None = None  # RCV.NXT, once the core's SYN is here
    opened: bool = False  # the core has its SYN
    finishing: bool = False
    finished: bool = False  # its FIN is acknowledged
    core_finished: bool = False
    gone: bool = False  # by RST, either way
    # The application
    flow: int | None = None
    state: str = ""
    reason: str = "none"  # why it ended
    closed: bool = False  # the core has its close command
    requested: int = 0  # bytes of to_core it has read or requested
    origin: int | None = None  # the sequence number of the first of them


class Crowd:
    def __init__(self, core: Core, draw: random.Random, loss: float) -> None:
        self.core = core
        self.draw = draw
        self.loss = loss
        self.connections: dict[tuple[int, int], Connection] = {}
        self.flows: dict[int, Connection] = {}
        self.requests = 0
        self.others: list[bytes] = []  # frames on the wire that are not TCP
        self._next_port = 10_000
        for task in (self._wire(), self._notifications(), self._data()):
            cocotb.start_soon(task)

    # ---- possible steps

    def peer_connects(self) -> None:
        self._next_port += 1
        connection = Connection(self._next_port, LISTEN_PORT, first=self.draw.getrandbits(32))
        self.connections[connection.peer_port, connection.core_port] = connection
        self.speak(connection)

    def application_connects(self) -> None:
        self._next_port += 1
        self.requests += 1
        self.core.connect(port=self._next_port, request=self.requests)

    def peer_sends(self, connection: Connection) -> None:
        if connection.opened and not connection.finishing:
            connection.to_core.given += self.draw.randbytes(self.draw.choice([1, 10, 500, 1460, 3000]))
            self.speak(connection)

    def application_writes(self, connection: Connection) -> None:
        if connection.state in ("established", "closeWait") and not connection.closed:
            data = self.draw.randbytes(self.draw.choice([1, 10, 500, 1460, 6000]))
            connection.to_peer.given += data
            assert connection.flow is not None
            self.core.write(connection.flow, data)

    def peer_finishes(self, connection: Connection) -> None:
        if connection.opened:
            connection.finishing = True
            self.speak(connection)

    def peer_resets(self, connection: Connection) -> None:
        if connection.opened and connection.acknowledged == len(connection.to_core.given) and not connection.finishing:
            connection.gone = True
            self._send(connection, "R", self._sequence(connection))

    def application_closes(self, connection: Connection, kind: str = "close") -> None:
        if connection.flow is not None and not connection.closed:
            connection.closed = True
            self.core.command(kind, flow=connection.flow)

    # ---- the peers

    def speak(self, connection: Connection) -> None:
        """Sends, or sends again, whatever the core has not acknowledged."""
        if connection.gone or connection.finished:
            return
        if connection.expected is None and connection.core_port != LISTEN_PORT:
            return  # it waits for the core's SYN
        if not connection.opened:
            self._send(connection, "S" if connection.expected is None else "SA", connection.first, options=True)
            return
        at = connection.acknowledged
        while at < len(connection.to_core.given):
            part = bytes(connection.to_core.given[at : at + 1460])
            self._send(connection, "PA", connection.first + 1 + at, part)
            at += len(part)
        if connection.finishing:
            self._send(connection, "FA", connection.first + 1 + at)

    def _sequence(self, connection: Connection) -> int:
        end = connection.first + 1 + len(connection.to_core.given)
        return (end + connection.finishing) % MODULUS

    def _send(
        self, connection: Connection, flags: str, sequence: int, data: bytes = b"", *, options: bool = False
    ) -> None:
        if self.draw.random() < self.loss:
            return
        segment = TCP(
            sport=connection.peer_port,
            dport=connection.core_port,
            flags=flags,
            seq=sequence % MODULUS,
            ack=connection.expected or 0,
            window=65535,
            options=[("MSS", 1460)] if options else [],
        )
        frame = Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / segment / Raw(data)
        self.core.wire_in.put(bytes(frame).ljust(60, b"\0"), user=self.core.now << 16)

    async def _wire(self) -> None:
        while True:
            frame = await self.core.wire_out.receive(clocks=100_000_000)
            tag = frame.extras["user"] >> 66 & 0xFFFF
            if tag:
                self.core.departures.put({"data": self.core.now << 32 | tag})
            if self.draw.random() >= self.loss:
                packet = Ether(frame.data)
                if TCP not in packet:
                    self.others.append(frame.data)
                    continue
                length = packet[IP].len - 40 - 4 * (packet[TCP].dataofs - 5)
                self._arrives(packet[TCP], bytes(packet[TCP].payload)[:length])

    def _arrives(self, segment: TCP, data: bytes) -> None:
        key = (segment.dport, segment.sport)
        if "S" in segment.flags and "A" not in segment.flags:
            self.connections.setdefault(key, Connection(*key, first=self.draw.getrandbits(32)))
        connection = self.connections[key]
        if connection.gone:
            return
        if "R" in segment.flags:
            connection.gone = True
            return
        if "S" in segment.flags:
            connection.expected = (segment.seq + 1) % MODULUS
        if connection.expected is None:
            return  # RFC 9293 3.10.7.3: nothing but a SYN counts before there was one
        if "A" in segment.flags:
            self._acknowledged(connection, segment.ack)
        new = (connection.expected - segment.seq) % MODULUS if "S" not in segment.flags else 0
        if new <= len(data) and "S" not in segment.flags and not connection.core_finished:
            connection.to_peer.arrived += data[new:]
            connection.core_finished = "F" in segment.flags
            connection.expected = (segment.seq + len(data) + connection.core_finished) % MODULUS
        if not connection.opened:
            self.speak(connection)
        elif data or "F" in segment.flags or "S" in segment.flags:
            self._send(connection, "A", self._sequence(connection))

    def _acknowledged(self, connection: Connection, number: int) -> None:
        bytes_ = (number - connection.first - 1) % MODULUS
        if bytes_ > len(connection.to_core.given) + 1:
            return
        connection.opened = True
        connection.finished |= bytes_ > len(connection.to_core.given)
        connection.acknowledged = max(connection.acknowledged, min(bytes_, len(connection.to_core.given)))

    # ---- the application

    async def _notifications(self) -> None:
        while True:
            word = (await self.core.notifications.receive(clocks=100_000_000))["data"]
            self._notified(unpack("Notification", word))

    def _notified(self, notification: dict[str, Any]) -> None:
        if notification["refused"]:
            return
        key = (notification["addresses_remotePort"], notification["addresses_localPort"])
        connection = self.connections.setdefault(key, Connection(*key, first=self.draw.getrandbits(32)))
        connection.flow = notification["status_reference_flow"]
        connection.state = notification["status_state"]
        connection.reason = notification["status_reason"]
        self.flows[connection.flow] = connection
        if connection.closed:
            return
        if connection.state == "closed":
            self.application_closes(connection)
            return
        if connection.state == "synSent":
            return
        if connection.origin is None:
            connection.origin = notification["status_consumed_value"]  # nothing was requested before
        # Not by `consumed`: what has arrived here may not be counted in it yet.
        received = (notification["status_received_value"] - connection.origin) % MODULUS - notification[
            "status_peerFinished"
        ]
        more = received - connection.requested
        if more > 0:
            connection.requested += more
            self.core.command("receive", flow=connection.flow, length=more)

    async def _data(self) -> None:
        while True:
            frame = await self.core.reads.receive(clocks=100_000_000)
            self.flows[frame.extras["dest"]].to_core.arrived += frame.data

    # ---- time

    async def settle(self) -> None:
        """Until the core is idle and the peers have no more to say to what it said."""
        for _ in range(3):
            await RisingEdge(self.core.dut.clk)
            await self.core.wire_in.drained(clocks=100_000)
            await self.core.idle(clocks=200_000)

    def check(self) -> None:
        """The bytes that arrived are the beginning of those given."""
        for connection in self.connections.values():
            for stream in (connection.to_core, connection.to_peer):
                assert stream.given.startswith(stream.arrived), f"{connection}: bytes differ"


__all__ = ["LISTEN_PORT", "Connection", "Crowd", "Stream"]
