# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Common parts of the readers of both capture formats: the way through a file's bytes, interfaces and packets."""

from __future__ import annotations

import struct
from typing import NamedTuple

from downbeat_toe.refused import Refused

LONGEST_PACKET = 1 << 20  # bytes; more is no length but noise
MICROSECONDS = 10**6  # a clock's units in a second
NANOSECONDS = 10**9


class Interface(NamedTuple):
    name: str
    link: int  # LINKTYPE_*
    per_second: int  # units of its stamps in a second
    fcs: int = 0  # bytes of frame check sequence at the end of each packet

    @property
    def step(self) -> int:
        """ns from one stamp to the next possible one, at least 1."""
        return max(1, -(-NANOSECONDS // self.per_second))


class Packet(NamedTuple):
    interface: int
    stamp: int  # ns since the epoch of the capture's clock
    length: int  # bytes on the wire without FCS, however many of them were kept
    data: memoryview


def packet(interface: int, stamp: int, length: int, data: memoryview, fcs: int) -> Packet:
    """A packet without the `fcs` bytes at its end. `length` counts them; `data` may be cut before them."""
    length = max(0, length - fcs)
    return Packet(interface, stamp, length, data[:length])


class Cursor:
    """Goes through a file's bytes; what is not there any more is a capture that was cut off."""

    def __init__(self, source: str, data: bytes) -> None:
        self.source = source
        self.data = memoryview(data)
        self.at = 0
        self.packets = 0  # so far
        self.order = "<"  # of bytes, as struct has it

    def take(self, size: int) -> memoryview:
        taken = self.data[self.at : self.at + size]
        if len(taken) < size:
            raise Refused(
                f"{self.source}: cut off at byte {len(self.data)}, behind {self.packets} whole packets. Let the "
                f"capturing program end by itself (^C, not kill -9); to keep what is whole: editcap {self.source} whole.pcapng"
            )
        self.at += size
        return taken

    def unpack(self, layout: str) -> tuple[int, ...]:
        layout = self.order + layout
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def damaged(self, what: str) -> Refused:
        return Refused(
            f"{self.source}: damaged at byte {self.at}, behind {self.packets} packets: {what}; capture again"
        )
