# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Inputs of the engine in the words of a peer: segments, placements, a peer's options."""

from __future__ import annotations

from dataclasses import dataclass

MODULUS = 2**32
MSS = 1460


def offset(number_: int, origin: int) -> int:
    """Signed distance of sequence numbers."""
    return (number_ - origin + MODULUS // 2) % MODULUS - MODULUS // 2


@dataclass
class Segment:
    """A descriptor, in the peer's words."""

    flags: str
    seq: int
    ack: int
    length: int
    window: int  # as on the wire
    sack: list[tuple[int, int]]  # sequence numbers
    timestamps: tuple[int, int] | None
    fields: dict[str, int]

    @property
    def value(self) -> int:
        """TSval."""
        assert self.timestamps is not None, "it has no timestamps"
        return self.timestamps[0]

    @property
    def echo(self) -> int:
        """TSecr."""
        assert self.timestamps is not None, "it has no timestamps"
        return self.timestamps[1]


@dataclass
class Placed:
    """A placement of the engine: sequence number and length, FIN, and from which byte of the frame."""

    seq: int
    length: int
    fin: bool
    offset: int
    slot: int


@dataclass
class Options:
    """The peer's; `timestamp` is its TSval's beginning, or it does not speak them."""

    mss: int | None = MSS
    scale: int | None = 7
    sack: bool = False
    timestamp: int | None = None
    ecn: bool = False
