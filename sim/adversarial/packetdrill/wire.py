# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The peer's end of the wire: frames to the core, the queue of what came from it, the last packets, a capture."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from downbeat_toe.device import Device, nanoseconds
from downbeat_toe.structures import NEVER
from scapy.layers.inet import TCP
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import PcapWriter

from sim.adversarial.packetdrill.packets import CORE_PORT, BadFrameError, Conversation, parsed, payload
from sim.adversarial.packetdrill.script import MODULUS, Segment

LINK_RATE = 8_000_000_000
SHOWN = 12  # last packets in a message
MIN_STEP = 200  # ns


@dataclass(frozen=True)
class Arrived:
    """A frame that the core has sent."""

    time: int  # ns
    packet: Packet


@dataclass
class Wire:
    """Time, and what passes the wire while it goes on."""

    device: Device
    seed: random.Random
    remote_isn: int | None
    capture: PcapWriter | None = None
    arrived: deque[Arrived] = field(default_factory=deque)
    conversations: dict[int, Conversation] = field(default_factory=dict)
    history: deque[tuple[int, str | Packet]] = field(default_factory=lambda: deque(maxlen=SHOWN))
    free_at: int = 0  # ns: the peer's frames do not overlap

    @property
    def now(self) -> int:
        return self.device.now >> 16

    def conversation(self, port: int) -> Conversation:
        """That with a port of the peer."""
        if port not in self.conversations:
            zero = self.seed.randrange(MODULUS) if self.remote_isn is None else self.remote_isn
            self.conversations[port] = Conversation(port, zero, CORE_PORT)
        return self.conversations[port]

    def put(self, frame: bytes, time: int, notation: str) -> int:
        """The core gets a frame; the time of its SFD."""
        at = max(time, self.now, self.free_at)
        self.device.put_frame(frame, nanoseconds(at))
        self.free_at = at + max(64, len(frame) + 4) + 20  # 8 Gb/s: a byte a ns
        self._record(at, notation, frame)
        return at

    def run(self, until: int) -> None:
        """Time passes; what comes from the core is queued."""
        self.device.advance(nanoseconds(until))
        for frame, departure in self.device.frames():
            packet = parsed(frame)
            self.arrived.append(Arrived(departure >> 16, packet))
            self._record(departure >> 16, packet, frame)

    def run_until_arrival(self, limit: int) -> None:
        """Time passes until a segment has come, or up to the limit."""
        while not self.arrived and self.now < limit:
            deadline = self.device.next_deadline
            wake = limit if deadline == NEVER else deadline >> 16
            self.run(min(limit, max(wake, self.now + MIN_STEP)))

    def read(self, packet: Packet) -> Segment:
        return self.conversation(packet[TCP].dport).read(packet)

    def notation(self, packet: Packet) -> str:
        port = packet[TCP].dport
        return (f":{port} " if len(self.conversations) > 1 else "") + str(self.read(packet))

    def judge_payload(self, packet: Packet, expected: bytes) -> None:
        if payload(packet) != expected:
            raise BadFrameError("its payload is not what write() gave for these sequence numbers")

    def last_packets(self) -> list[str]:
        """In the script's numbers, as they are known now."""
        return [
            f"{time / 1e9:.9f} {f'< {what}' if isinstance(what, str) else f'> {self.notation(what)}'}"
            for time, what in self.history
        ]

    def _record(self, time: int, what: str | Packet, frame: bytes) -> None:
        self.history.append((time, what))
        if self.capture:
            packet = Ether(frame)
            packet.time = time / 1e9
            self.capture.write(packet)
