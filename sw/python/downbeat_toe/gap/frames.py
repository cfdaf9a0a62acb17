# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Kinds of captured frames: a segment with data, or a frame of `downbeat replay`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from downbeat_toe.gap import probe
from downbeat_toe.gap.headers import BEYOND_ETHERNET, ETHERNET, SLL, SLL2, network
from downbeat_toe.gap.segments import CUT, Segment, segment
from downbeat_toe.refused import Refused
from downbeat_toe.schedule import ETHERNET_HEADER, Flags, Integers, Kind, unwrapped

DEFAULT_MTU = 1500  # bytes
COMMON = 4  # causes that are named


@dataclass(frozen=True)
class Frames:
    """Frames of one kind, in the order of the capture; all arrays are of one length."""

    stamp: Integers  # ns, of the capture's clock
    flow: tuple[str, ...]
    sequence: Integers  # of a segment unwrapped: beyond 2^32 in flows above 4 GiB
    length: Integers  # bytes of a frame; of a segment as a frame without options
    merged: Flags | None = None  # larger than the path carries: segmentation offload joined several; None: none is
    step: int = 1  # ns from one stamp to the next possible one, as the file declares
    others: tuple[tuple[str, int], ...] = ()  # what the packets are that are no frames of this kind, and how many

    def __len__(self) -> int:
        return len(self.stamp)

    def where(self, wanted: Flags) -> Frames:
        return self._taken(np.flatnonzero(wanted))

    def in_order(self, source: str) -> Frames:
        """By their stamps. Refuses those of a flow that go back; among flows they may: each queue stamps by itself."""
        last: dict[str, tuple[int, int]] = {}  # number of the flow's frame, stamp
        for flow, stamp in zip(self.flow, self.stamp.tolist(), strict=True):
            number, before = last.get(flow, (0, stamp))
            last[flow] = number + 1, stamp
            if (step := before - stamp) > 0:
                raise Refused(
                    f"{source}: frame {number + 1} of flow {flow} is stamped {step} ns before the one ahead of it. If the clock "
                    "was set back, let it be slewed and capture again; if the file is merely out of order: reordercap "
                    f"{source} ordered.pcapng"
                )
        return self._taken(np.argsort(self.stamp, kind="stable"))

    def seen(self) -> str:
        """What there is beside frames of this kind, most first; empty: nothing."""
        listed = sorted(self.others, key=lambda other: -other[1])[:COMMON]
        return ", ".join(f"{count} {what}" for what, count in listed)

    def notes(self) -> list[str]:
        """What the capture hides."""
        return [f"{count} packets are {what}." for what, count in self.others if what == CUT]

    def _taken(self, order: np.ndarray) -> Frames:
        names = tuple(self.flow[index] for index in order)
        merged = None if self.merged is None else self.merged[order]
        return replace(
            self,
            stamp=self.stamp[order],
            flow=names,
            sequence=self.sequence[order],
            length=self.length[order],
            merged=merged,
        )


def select(
    kind: Kind, packets: Iterable[tuple[int, int, int, memoryview]], step: int = 1, mtu: int | None = None
) -> Frames:
    """The frames of this kind among packets (stamp in ns, link type, length on the wire, bytes).

    `mtu`: bytes of the largest IP packet of the path; None: by the handshakes' MSS, and 1,500 for flows without one.
    """
    others = Counter[str]()
    if kind == "probe":
        found: list[tuple[int, str, int, int]] = []
        for stamp, link, length, data in packets:
            frame = _probe(link, length, data)
            if frame is None:
                others["packets of others"] += 1
            else:
                found.append((stamp, *frame))
        stamps, flows, sequences, lengths = zip(*found, strict=True) if found else ((), (), (), ())
        merged = None
    else:
        segments: list[tuple[int, Segment]] = []
        largest: dict[str, int] = {}  # bytes of payload and options of a flow's segment, by its peer's SYN
        for stamp, link, length, data in packets:
            looked = segment(link, length, data)
            if isinstance(looked, str):
                others[looked] += 1
                continue
            if looked.mss:
                largest[looked.back] = looked.mss
            if looked.payload:
                segments.append((stamp, looked))
        stamps = tuple(stamp for stamp, _ in segments)
        flows = tuple(each.flow for _, each in segments)
        sequences = tuple(unwrapped(flows, (each.sequence for _, each in segments)))
        lengths = tuple(ETHERNET_HEADER + each.headers + each.payload for _, each in segments)
        merged = np.array([_is_merged(each, largest.get(each.flow), mtu) for _, each in segments], dtype=bool)
    arrays = (np.array(sequences, np.int64), np.array(lengths, np.int64))
    return Frames(np.array(stamps, np.int64), flows, *arrays, merged, step, tuple(others.items()))


def find(kind: Kind, link: int, length: int, data: memoryview) -> tuple[str, int, int] | None:
    """Flow, sequence number and length of one packet, if it is of this kind."""
    if kind == "probe":
        return _probe(link, length, data)
    found = segment(link, length, data)
    if isinstance(found, str) or not found.payload:
        return None
    return found.flow, found.sequence, ETHERNET_HEADER + found.headers + found.payload


def _is_merged(found: Segment, mss: int | None, mtu: int | None) -> bool:
    """RFC 6691: a segment's payload and options have MSS bytes at most."""
    if found.unsized:
        return True
    carried = found.payload + found.options
    if mtu is not None or mss is None:
        return carried + found.headers > (mtu or DEFAULT_MTU)
    return carried > mss


def _probe(link: int, length: int, data: memoryview) -> tuple[str, int, int] | None:
    if link not in (ETHERNET, SLL, SLL2):
        return None
    ether_type, start = network(link, data)
    found = probe.parse(data[start:]) if ether_type == probe.ETHER_TYPE else None
    return None if found is None else (*found, length - BEYOND_ETHERNET.get(link, 0))
