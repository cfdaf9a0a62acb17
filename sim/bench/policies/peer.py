# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The other end of a connection, by the header tap: a receiver that acknowledges each segment, or every second."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

FIN, SYN, RST, ACK = 1, 2, 4, 16
MODULUS = 2**32
WINDOW, SCALE = 65535, 4
DELAYED_ACK_NS = 40_000_000
BLOCKS = 3


@dataclass(frozen=True)
class Temper:
    """How a receiver behaves."""

    delays: bool
    selective: bool
    mss: int


@dataclass
class Peer:
    temper: Temper
    ours: bytes  # Ethernet, from the core to the peer
    expected: int | None = None  # RCV.NXT
    sequence: int = 1 << 31
    beyond: list[tuple[int, int]] = field(default_factory=list)  # held ranges, as offsets from the first SYN
    newest: tuple[int, int] | None = None
    finished: bool = False
    unacknowledged: int = 0  # segments that wait for their ACK
    ack_due: int | None = None  # ns

    def hears(self, frame: bytes, now: int) -> list[bytes]:
        """Its answers to a segment."""
        flags, sequence, length = parts(frame)
        if flags & RST:
            self.expected = None
            return []
        if flags & SYN:
            if self.expected is None:
                self.expected = (sequence + 1) % MODULUS
            return [self._segment(SYN | ACK, self._options(frame))]
        if self.expected is None:
            return []
        ahead = (sequence - self.expected + MODULUS // 2) % MODULUS - MODULUS // 2
        end = ahead + length
        if length == 0 and not flags & FIN:
            return []
        if ahead <= 0 < end or ahead == 0:
            held = bool(self.beyond)
            self._takes(max(end, 0))
            if flags & FIN and end >= 0 and not self.finished and not self.beyond:
                self.finished = True
                self.expected = (self.expected + 1) % MODULUS
                acknowledgment = self._acknowledges()
                last = self._segment(FIN | ACK)
                self.sequence += 1
                return [acknowledgment, last]
            self.unacknowledged += 1
            if held or not self.temper.delays or self.unacknowledged >= 2:
                return [self._acknowledges()]
            self.ack_due = now + DELAYED_ACK_NS
            return []
        if ahead > 0 and length:
            self._holds(ahead, end)
        return [self._acknowledges((ahead, end) if ahead < 0 else None)]

    def timer(self, now: int) -> list[bytes]:
        return [self._acknowledges()] if self.ack_due is not None and self.ack_due <= now else []

    def _takes(self, count: int) -> None:
        """In order, and what that joins."""
        assert self.expected is not None
        for begin, end in sorted(self.beyond):
            if begin <= count:
                count = max(count, end)
        self.beyond = [(begin - count, end - count) for begin, end in self.beyond if begin > count]
        if self.newest is not None:
            self.newest = (self.newest[0] - count, self.newest[1] - count) if self.newest[0] > count else None
        self.expected = (self.expected + count) % MODULUS

    def _holds(self, begin: int, end: int) -> None:
        apart = [held for held in self.beyond if held[1] < begin or end < held[0]]
        touched = [held for held in self.beyond if held not in apart]
        self.newest = (min([begin, *(held[0] for held in touched)]), max([end, *(held[1] for held in touched)]))
        self.beyond = [*apart, self.newest]

    def _acknowledges(self, again: tuple[int, int] | None = None) -> bytes:
        """`again`: data that came twice (RFC 2883)."""
        self.unacknowledged, self.ack_due = 0, None
        blocks = b""
        if self.temper.selective and (self.beyond or again):
            assert self.expected is not None
            ordered = sorted(self.beyond, key=lambda held: held != self.newest)
            ordered = [*([again] if again else []), *ordered][:BLOCKS]
            edges = [(self.expected + edge) % MODULUS for held in ordered for edge in held]
            blocks = struct.pack(f"!BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)
        return self._segment(ACK, blocks)

    def _options(self, syn: bytes) -> bytes:
        offered = syn[54 : 14 + 20 + (syn[46] >> 4) * 4]
        options = struct.pack("!BBH", 2, 4, self.temper.mss)
        if b"\x03\x03" in offered:
            options += bytes([1, 3, 3, SCALE])
        if self.temper.selective and b"\x04\x02" in offered:
            options += bytes([1, 1, 4, 2])
        return options

    def _segment(self, flags: int, options: bytes = b"") -> bytes:
        """Without checksums: the header tap judges none."""
        syn = self.ours
        ip = struct.pack("!BBHIBBH", 0x45, 0, 40 + len(options), 0, 64, 6, 0) + syn[30:34] + syn[26:30]
        ports = syn[36:38] + syn[34:36]
        sequence = (self.sequence + (0 if flags & SYN else 1)) % MODULUS
        tcp = ports + struct.pack(
            "!IIBBHHH", sequence, self.expected or 0, (20 + len(options)) // 4 << 4, flags, WINDOW, 0, 0
        )
        return syn[6:12] + syn[0:6] + b"\x08\x00" + ip + tcp + options


class Parts(NamedTuple):
    flags: int
    sequence: int
    length: int  # bytes of payload


def parts(frame: bytes) -> Parts:
    length = int.from_bytes(frame[16:18], "big") - 20 - (frame[46] >> 4) * 4
    return Parts(frame[47], int.from_bytes(frame[38:42], "big"), length)
