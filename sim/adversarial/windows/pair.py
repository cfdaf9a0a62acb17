# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two cores on one wire: both write and read as a seed draws, and each reply is judged where it arrives."""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass, field

from downbeat.device import Device, DeviceError, nanoseconds
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from sim.adversarial.packetdrill.packets import stream
from sim.adversarial.windows.peer import CORE_SCALE
from sim.adversarial.windows.script import Outcome
from sim.adversarial.windows.table import passes

PORT = 8080
DELAY = 20_000  # ns, one way
STEPS = 12
SPACE = 1 << 20  # bytes of a receive buffer: more shuts the window
END = 100_000_000_000  # ns


@dataclass
class Side:
    """A core, its application, and what an observer of the wire knows of its receive side."""

    device: Device
    salt: int
    name: int = 0
    written: int = 0
    read: int = 0
    free_at: int = 0  # ns: frames to it do not overlap
    zero: int = 0  # the other's initial sequence number
    expected: int = 0  # RCV.NXT, counted from the other's SYN
    edge: int = 0  # RCV.NXT + RCV.WND, as it has told
    faults: list[str] = field(default_factory=list)

    def sees(self, frame: bytes) -> bool:
        """A segment arrives; whether its number was judged."""
        tcp, ip = Ether(frame)[TCP], Ether(frame)[IP]
        length = ip.len - 40 - 4 * (tcp.dataofs - 5)
        if tcp.flags.S:
            self.zero, self.expected = tcp.seq, 1
            return False
        start = (tcp.seq - self.zero) % (1 << 32)
        if length:
            if start <= self.expected:
                self.expected = max(self.expected, min(start + length, self.edge + (1 << CORE_SCALE) - 1))
            return False
        window = max(self.edge - self.expected, 0)
        # A window that is rounded down to zero may hold less than a unit more.
        if not any(passes(start, 0, self.expected, window + more, False) for more in range(1 << CORE_SCALE)):
            self.faults.append(f"{start}: RCV.NXT {self.expected}, RCV.WND {window}")
        return True

    def tells(self, frame: bytes) -> None:
        """A segment of its own leaves, with its window."""
        tcp = Ether(frame)[TCP]
        if tcp.flags.A:
            acknowledged = (tcp.ack - self.zero) % (1 << 32)
            self.edge = max(self.edge, acknowledged + (tcp.window << (0 if tcp.flags.S else CORE_SCALE)))

    def write(self, length: int) -> None:
        try:
            self.written += self.device.send(self.name, stream(1 + self.written, length, self.salt))
        except DeviceError:
            return

    def take(self, other: Side, most: int) -> None:
        try:
            data = self.device.receive(self.name, most)
        except DeviceError:
            return
        if data != stream(1 + self.read, len(data), other.salt):
            self.faults.append(f"{len(data)} bytes behind {self.read} are not those that were written")
        self.read += len(data)


def play(library: ctypes.CDLL, seed: int) -> Outcome:
    draw = random.Random(f"pair {seed}")
    macs, ips = [bytes([2, 0, 0, 0, 0, i]) for i in (1, 2)], [0x0A000001, 0x0A000002]
    with (
        Device(library, macs[0], ips[0], link_rate=8_000_000_000, secret=seed, staging_bytes=1) as first,
        Device(library, macs[1], ips[1], link_rate=8_000_000_000, secret=seed + 1, staging_bytes=1) as second,
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
                side.write(draw.choice((1, 1000, 50_000, SPACE + 5000)))
            else:
                side.take(other, draw.choice((1, 1460, 5000, SPACE)))
            judged += _pass(sides, draw.choice((1_000_000, 50_000_000, 1_500_000_000)))
        end = sides[0].device.now + nanoseconds(END)
        while sides[0].device.now < end and any(sides[i].read < sides[1 - i].written for i in (0, 1)):
            for side, other in (sides, reversed(sides)):
                side.take(other, SPACE)
            judged += _pass(sides, 50_000_000)
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
            for frame, departure in side.device.frames():
                side.tells(frame)
                at = max((departure >> 16) + DELAY, now, other.free_at)
                other.device.put_frame(frame, nanoseconds(at))
                other.free_at = at + max(64, len(frame) + 4) + 20
                judged += other.sees(frame)
    return judged
