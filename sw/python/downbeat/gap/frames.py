# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a captured frame is to a schedule: a segment with data, or a frame of `downbeat replay`."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from downbeat.gap import probe
from downbeat.refused import Refused
from downbeat.schedule import HEADERS, NANOSECONDS, Flags, Integers, Kind, Schedule

ETHERNET, PPP, RAW_IP, IPV4 = 1, 9, 101, 228  # link types of pcap and pcapng
LINKS = (ETHERNET, PPP, RAW_IP, IPV4)
VLAN_TAGS = (0x8100, 0x88A8)
ETHER_TYPE_IPV4 = 0x0800
PPP_IPV4 = 0x0021
TCP = 6


@dataclass(frozen=True)
class Frames:
    """Frames of one kind, in the order of the capture; all arrays are of one length."""

    stamp: Integers  # ns, of the capture's clock
    flow: tuple[str, ...]
    sequence: Integers
    length: Integers  # bytes of a frame; of a segment as a frame without options

    def __len__(self) -> int:
        return len(self.stamp)

    def where(self, wanted: Flags) -> Frames:
        flow = tuple(name for name, take in zip(self.flow, wanted, strict=True) if take)
        return Frames(self.stamp[wanted], flow, self.sequence[wanted], self.length[wanted])

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
        order = np.argsort(self.stamp, kind="stable")
        names = tuple(self.flow[index] for index in order)
        return Frames(self.stamp[order], names, self.sequence[order], self.length[order])

    def as_schedule(self, source: str) -> Schedule:
        """What left here when it left: what comes out elsewhere is compared with it."""
        if not len(self):
            raise Refused(
                f"{source}: no segment with data in it; name the interface on which they leave (--schedule-interface)"
            )
        seen: set[tuple[str, int]] = set()
        again = np.zeros(len(self), dtype=bool)
        for index, key in enumerate(zip(self.flow, self.sequence.tolist(), strict=True)):
            again[index] = key in seen
            seen.add(key)
        return Schedule(source, "tcp", self.stamp, self.length, self.flow, self.sequence, again)

    def paced(self, source: str, flow: str | None, rate: int) -> Schedule:
        """What a flow's new data would be if each payload byte took its time at `rate` bits a second, whatever the stamps say."""
        left = self.as_schedule(source)
        flows = left.flows()
        if flow is None and len(flows) > 1:
            raise Refused(f"{source}: which flow is paced? name it (--flow): {', '.join(flows)}")
        left = left.only(flow or flows[0])
        steps = np.diff(left.sequence, prepend=left.sequence[:1])
        ahead = np.cumsum((steps + 2**31) % 2**32 - 2**31)  # bytes since the first segment; sequence numbers wrap
        new = ~left.retransmission & (ahead == np.maximum.accumulate(ahead))
        launch = np.rint(ahead * (8 * NANOSECONDS / rate)).astype(np.int64)
        return replace(left, launch=launch).where(new)


def select(kind: Kind, packets: Iterable[tuple[int, int, int, memoryview]]) -> Frames:
    """The frames of this kind among packets (stamp in ns, link type, length on the wire, bytes)."""
    stamps, flows, sequences, lengths = [], [], [], []
    for stamp, link, length, data in packets:
        found = find(kind, link, length, data)
        if found is not None:
            stamps.append(stamp)
            flows.append(found[0])
            sequences.append(found[1])
            lengths.append(found[2])
    return Frames(np.array(stamps, np.int64), tuple(flows), np.array(sequences, np.int64), np.array(lengths, np.int64))


def find(kind: Kind, link: int, length: int, data: memoryview) -> tuple[str, int, int] | None:
    """Flow, sequence number and length of one packet, if it is of this kind."""
    return _probe(link, length, data) if kind == "probe" else _segment(link, data)


def _probe(link: int, length: int, data: memoryview) -> tuple[str, int, int] | None:
    if link != ETHERNET:
        return None
    ether_type, start = _ether_type(data)
    found = probe.parse(data[start:]) if ether_type == probe.ETHER_TYPE else None
    return None if found is None else (*found, length)


def _segment(link: int, data: memoryview) -> tuple[str, int, int] | None:
    """Flow as `source:port>destination:port`, sequence number, length. None: no IPv4 TCP with data, or cut before its end."""
    start = _ip(link, data)
    if start is None or len(data) < start + 20 or data[start] >> 4 != 4 or data[start + 9] != TCP:
        return None
    if (data[start + 6] & 0x1F) or data[start + 7]:
        return None  # a later fragment: no header of TCP
    tcp = start + 4 * (data[start] & 15)
    if len(data) < tcp + 14:
        return None
    payload = int.from_bytes(data[start + 2 : start + 4]) - (tcp - start) - 4 * (data[tcp + 12] >> 4)
    if payload <= 0:
        return None
    source, destination, sequence = struct.unpack_from(">HHI", data, tcp)
    ends = (".".join(map(str, data[at : at + 4])) for at in (start + 12, start + 16))
    return f"{next(ends)}:{source}>{next(ends)}:{destination}", sequence, HEADERS + payload


def _ip(link: int, data: memoryview) -> int | None:
    """Where the IPv4 packet begins."""
    if link == ETHERNET:
        ether_type, start = _ether_type(data)
        return start if ether_type == ETHER_TYPE_IPV4 else None
    if link == PPP:
        return 2 if bytes(data[:2]) == PPP_IPV4.to_bytes(2) else None
    return 0


def _ether_type(data: memoryview) -> tuple[int, int]:
    """The EtherType behind VLAN tags, and where its payload begins."""
    at = 12
    while (ether_type := int.from_bytes(data[at : at + 2])) in VLAN_TAGS:
        at += 4
    return ether_type, at + 2
