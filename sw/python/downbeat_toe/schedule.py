# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A schedule: which frame is to leave when. docs/how-to/measure-gaps.md has its forms, `schedule_file` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from downbeat_toe.refused import Refused

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Kind = Literal["probe", "tcp"]

ETHERNET_HEADER = 14  # bytes
HEADERS = ETHERNET_HEADER + 20 + 20  # bytes: Ethernet, IPv4, TCP without options
SHORTEST = 60  # bytes of a frame without FCS; shorter ones are padded
BESIDE = 4 + 8 + 12  # bytes of FCS, preamble with SFD, smallest gap
NANOSECONDS = 10**9
WRAP = 2**32  # of sequence numbers


@dataclass(frozen=True)
class Schedule:
    """Entries in the order of their launches; all arrays are of one length."""

    source: str  # for messages
    kind: Kind  # probe: `downbeat replay`'s own frames; tcp: segments with data
    launch: Integers  # ns, of the schedule's clock
    length: Integers  # bytes of the frame without FCS (tcp: without options)
    flow: tuple[str, ...]  # names, by entry
    sequence: Integers  # tcp: of the segment's first byte, unwrapped; probe: number of the frame in its flow
    retransmission: Flags
    merged: Flags | None = None  # several frames in one, by segmentation offload; None: none is
    step: int = 0  # ns: of the clock whose stamps the launches are; 0: launches are exact

    def __len__(self) -> int:
        return len(self.launch)

    def flows(self) -> list[str]:
        return list(dict.fromkeys(self.flow))

    def only(self, flow: str) -> Schedule:
        """The entries of one flow. A name may have `>` between its ends as well."""
        wanted = flow.replace(">", "-").replace(" ", "")
        if wanted not in self.flow:
            known = self.flows()
            more = ", ..." if len(known) > 8 else ""
            raise Refused(f"{self.source}: no flow {flow}; it has {', '.join(known[:8])}{more}")
        return self.where(np.array([name == wanted for name in self.flow]))

    def where(self, wanted: Flags) -> Schedule:
        flow = tuple(name for name, take in zip(self.flow, wanted, strict=True) if take)
        return replace(
            self,
            launch=self.launch[wanted],
            length=self.length[wanted],
            flow=flow,
            sequence=self.sequence[wanted],
            retransmission=self.retransmission[wanted],
            merged=None if self.merged is None else self.merged[wanted],
        )


def unwrapped(flows: Iterable[str], sequences: Iterable[int]) -> Iterator[int]:
    """Sequence numbers that go on beyond 2^32, each within 2^31 of the one before it in its flow (RFC 9293, 3.4)."""
    last: dict[str, int] = {}
    for flow, sequence in zip(flows, sequences, strict=True):
        before = last.get(flow, sequence % WRAP)
        last[flow] = before + (sequence - before + WRAP // 2) % WRAP - WRAP // 2
        yield last[flow]


def wire_time(length: Integers, rate: int) -> npt.NDArray[np.float64]:
    """Nanoseconds from one frame's SFD to that of a frame right behind it, at `rate` bits a second."""
    return (np.maximum(length, SHORTEST) + BESIDE) * (8 * NANOSECONDS / rate)


def require_space(schedule: Schedule, rate: int, option: str = "--rate") -> None:
    """Refuses a schedule in which a frame is to leave while the one ahead of it is still on the wire.

    `option` is the one that names the wire's rate.
    """
    needed = wire_time(schedule.length[:-1], rate)
    tight = np.flatnonzero(np.diff(schedule.launch) < np.floor(needed))
    if len(tight):
        at = int(tight[0])
        gap = int(schedule.launch[at + 1] - schedule.launch[at])
        raise Refused(
            f"{schedule.source}: entry {at + 2} is to leave {gap} ns after the one ahead of it, whose {schedule.length[at]} "
            f"bytes hold a wire of {rate / 1e6:g} Mb/s for {needed[at]:.0f} ns; {len(tight)} such pairs. "
            f"Space them, or name a faster link ({option})"
        )
