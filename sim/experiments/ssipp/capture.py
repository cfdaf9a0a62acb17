# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the core's wire shows of one transfer: in which order segments left, and what each ACK released."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader


@dataclass(frozen=True)
class Segment:
    """A segment on the core's wire, sent or received."""

    time: float  # s
    sent: bool
    sequence: int
    acknowledgment: int
    length: int  # payload bytes
    flags: str


@dataclass(frozen=True)
class Figures:
    """All that the vector table of SSIPP asks for; rounds lie further apart than half a round trip."""

    segments: int  # full ones, each counted once
    per_round: list[int]
    inverted_share: float  # of the full segments behind the first
    most_per_ack: int | None  # None: ACKs come closer together than frames can leave, the wire does not tell
    retransmissions: int
    duplicate_acks: int  # that repeat a number, carry nothing and find data outstanding
    acks: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def read(path: Path, core_ip: str, interface: str) -> Iterator[Segment]:
    """The TCP segments of an interface of a capture, in its order."""
    with RawPcapNgReader(str(path)) as frames:
        for data, about in frames:
            if about.ifname not in (interface, interface.encode()):
                continue
            packet = Ether(data)
            if TCP not in packet:
                continue
            ip, tcp = packet[IP], packet[TCP]
            seconds = ((about.tshigh << 32) + about.tslow) / about.tsresol
            length = ip.len - 4 * ip.ihl - 4 * tcp.dataofs
            yield Segment(seconds, ip.src == core_ip, tcp.seq, tcp.ack, length, str(tcp.flags))


def figures(segments: Iterable[Segment], round_trip: float, *, acks_apart: bool = True) -> Figures:
    """`round_trip` in s; `acks_apart`: what an ACK releases has left before the next one comes.

    Numbers of segments count from the first full one, which is 0.
    """
    taken = [segment for segment in segments if "S" not in segment.flags]
    data = [segment for segment in taken if segment.sent and segment.length]
    size, start = max(segment.length for segment in data), min(segment.sequence for segment in data)
    order: list[int] = []
    released = most = again = acks = duplicates = 0
    highest = start
    last_ack: int | None = None
    rounds = [0]
    before: float | None = None
    for segment in taken:
        if not segment.sent:
            released = 0
            acks += 1
            duplicates += (
                segment.acknowledgment == last_ack and segment.length == 0 and highest > segment.acknowledgment
            )
            last_ack = segment.acknowledgment
        elif segment.length:
            number, part = divmod(segment.sequence - start, size)
            if part or number in order:
                again += 1
                continue
            highest = max(highest, segment.sequence + segment.length)
            if segment.length < size:
                continue  # the end of the file
            order.append(number)
            released += 1
            most = max(most, released)
            if before is not None and segment.time - before > round_trip / 2:
                rounds.append(0)
            rounds[-1] += 1
            before = segment.time
    return Figures(len(order), rounds, inverted(order), most if acks_apart else None, again, duplicates, acks)


def inverted(order: Sequence[int]) -> float:
    """The share of segments behind the first that left in a pair, the later one first."""
    pairs = sum(1 for first, second in itertools.pairwise(order) if first == second + 1)
    return 2 * pairs / (len(order) - 1) if len(order) > 1 else 0.0


def failures(found: Figures, rounds: int) -> list[str]:
    """What the table demands of the first rounds: each twice the one before, 99 % inverted, three for an ACK, nothing
    twice."""
    said = []
    wanted = [1 << number for number in range(rounds)]
    if found.per_round[:rounds] != wanted:
        said.append(f"rounds of {found.per_round[:rounds]} segments, not {wanted}")
    if found.inverted_share < 0.99:
        said.append(f"only {100 * found.inverted_share:.1f} % of the segments left in inverted pairs")
    if found.most_per_ack is not None and found.most_per_ack > 3:
        said.append(f"an ACK released {found.most_per_ack} segments")
    if found.retransmissions:
        said.append(f"{found.retransmissions} segments were sent again, and nothing was lost")
    return said
