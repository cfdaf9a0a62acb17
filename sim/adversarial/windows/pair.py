# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two cores on one wire: both write and read as a seed draws, and each reply is judged where it arrives."""

from __future__ import annotations

import ctypes
import random
import struct
from dataclasses import dataclass, field

from downbeat_toe.device import Device, DeviceError, nanoseconds

from sim.adversarial.packetdrill.packets import stream
from sim.adversarial.windows.peer import CORE_SCALE
from sim.adversarial.windows.script import Outcome
from sim.adversarial.windows.table import passes

PORT = 8080
DELAY = 20_000  # ns, one way
STEPS = 12
SPACE = 1 << 20  # bytes of a receive buffer: more shuts the window
END = 100_000_000_000  # ns
STAGING = 20_000  # bytes that the device holds for an application, each way
SYN, ACK = 2, 16


@dataclass(frozen=True)
class Header:
    """The fields of a frame that are judged: Ethernet, IPv4 without options, TCP."""

    sequence: int
    acknowledgment: int
    flags: int
    window: int
    length: int

    @classmethod
    def of(cls, frame: bytes) -> Header | None:
        """None if it is no TCP."""
        if len(frame) < 54 or frame[12:14] != b"\x08\x00" or frame[23] != 6:
            return None
        (total,) = struct.unpack_from(">H", frame, 16)
        sequence, acknowledgment, offset, flags, window = struct.unpack_from(">IIBBH", frame, 38)
        return cls(sequence, acknowledgment, flags, window, total - 20 - 4 * (offset >> 4))


@dataclass
class Side:
    """A core, its application, and what an observer of the wire knows of its receive side."""

    device: Device
    salt: int
    name: int = 0
    to_write: int = 0
    written: int = 0
    read: int = 0
    free_at: int = 0  # ns: frames to it do not overlap
    zero: int = 0  # the other's initial sequence number
    expected: int = 0  # RCV.NXT, counted from the other's SYN
    edge: int = 0  # RCV.NXT + RCV.WND, as it has sent
    moved_at: int = 0  # ns: when RCV.NXT moved last
    faults: list[str] = field(default_factory=list)

    def sees(self, header: Header, now: int) -> bool:
        """A segment arrives; whether its number was judged: if the other end can know RCV.NXT."""
        if header.flags & SYN:
            self.zero, self.expected = header.sequence, 1
            return False
        start = (header.sequence - self.zero) % (1 << 32)
        if header.length:
            if start <= self.expected:
                end = min(start + header.length, self.edge)
                if end > self.expected:
                    self.expected, self.moved_at = end, now
            return False
        if now - self.moved_at < 3 * DELAY:
            return False
        window = max(self.edge - self.expected, 0)
        # A window that is rounded down to zero may hold less than a unit more.
        if not any(passes(start, 0, self.expected, window + more, False) for more in range(1 << CORE_SCALE)):
            self.faults.append(f"{start}: RCV.NXT {self.expected}, RCV.WND {window}")
        return True

    def tells(self, header: Header, now: int) -> None:
        """A segment of its own leaves, with its window. Only this side knows whether it has taken a probe beyond
        the window that it sent."""
        if header.flags & ACK:
            acknowledged = (header.acknowledgment - self.zero) % (1 << 32)
            if acknowledged > self.expected:
                self.expected, self.moved_at = acknowledged, now
            shift = 0 if header.flags & SYN else CORE_SCALE
            self.edge = max(self.edge, acknowledged + (header.window << shift))

    def write(self) -> None:
        """As much as the device takes of what the application has to write."""
        if not self.to_write:
            return
        try:
            data = stream(1 + self.written, min(self.to_write, STAGING), self.salt)
            taken = self.device.send(self.name, data)
        except DeviceError:
            return
        self.written += taken
        self.to_write -= taken

    def take(self, other: Side, limit: int) -> None:
        try:
            data = self.device.receive(self.name, limit)
        except DeviceError:
            return
        if data != stream(1 + self.read, len(data), other.salt):
            self.faults.append(f"{len(data)} bytes behind {self.read} are not those that were written")
        self.read += len(data)


def play(library: ctypes.CDLL, seed: int) -> Outcome:
    draw = random.Random(f"pair {seed}")
    macs, ips = [bytes([2, 0, 0, 0, 0, i]) for i in (1, 2)], [0x0A000001, 0x0A000002]
    with (
        Device(library, macs[0], ips[0], link_rate=8_000_000_000, secret=seed, staging_bytes=STAGING) as first,
        Device(library, macs[1], ips[1], link_rate=8_000_000_000, secret=seed + 1, staging_bytes=STAGING) as second,
    ):
        first.add_neighbour(ips[1], macs[1])
        second.add_neighbour(ips[0], macs[0])
        second.listen(PORT)
        sides = [Side(first, 100), Side(second, 0)]
        sides[0].name = first.connect(ips[1], PORT)
        judged = _pass(sides, 1_000_000)
        sides[1].name = second.accept(PORT)
        for _ in range(STEPS):
            side = draw.choice(sides)
            other = sides[1 - sides.index(side)]
            if draw.random() < 0.6:
                side.to_write += draw.choice((1, 1000, 50_000, SPACE + 2 * STAGING))
            else:
                side.take(other, draw.choice((1, 1460, 5000, STAGING)))
            judged += _pass(sides, draw.choice((1_000_000, 50_000_000, 1_500_000_000)))
        end = sides[0].device.now + nanoseconds(END)
        while sides[0].device.now < end and any(s.to_write or s.read < o.written for s, o in (sides, reversed(sides))):
            for side, other in (sides, reversed(sides)):
                side.take(other, STAGING)
            judged += _pass(sides, 2_000_000)
        for side, other in (sides, list(reversed(sides))):
            if side.read < other.written:
                side.faults.append(f"of {other.written} bytes {side.read} came")
        return Outcome(sides[0].faults + sides[1].faults, judged, (sides[0].written, sides[1].written))


def _pass(sides: list[Side], duration: int) -> int:
    """Time passes on both sides in steps of the delay, or farther while nothing is to happen; the replies judged."""
    judged = 0
    now = max(side.device.now >> 16 for side in sides)
    end = now + duration
    while now < end:
        soonest = min(side.device.next_deadline >> 16 for side in sides)
        now = min(end, max(now + DELAY, soonest))
        for side, other in (sides, list(reversed(sides))):
            side.device.advance(nanoseconds(now))
            side.write()
            for frame, departure in side.device.frames():
                header = Header.of(frame)
                if header:
                    side.tells(header, departure >> 16)
                at = max((departure >> 16) + DELAY, now, other.free_at)
                other.device.put_frame(frame, nanoseconds(at))
                other.free_at = at + max(64, len(frame) + 4) + 20
                judged += header is not None and other.sees(header, at)
    return judged
