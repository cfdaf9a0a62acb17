# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reading a capture, with exact nanoseconds.

Own code beside the libraries that read these formats: docs/decisions/captures-and-allan-deviation-by-ourselves.md says
why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from downbeat_toe import unpacking
from downbeat_toe.gap import pcap, pcapng
from downbeat_toe.gap.cursor import Cursor, Interface, Packet
from downbeat_toe.gap.headers import LINKS
from downbeat_toe.refused import Refused

MICROSECOND = 1000  # ns
READERS: dict[bytes, Callable[[Cursor], tuple[list[Interface], list[Packet]]]] = {
    **dict.fromkeys(pcap.MAGICS, pcap.read),
    pcapng.MAGIC: pcapng.read,
}


@dataclass(frozen=True)
class Capture:
    source: str
    interfaces: list[Interface]
    packets: list[Packet]

    def on(self, name: str | None, strict: bool = False, option: str = "--interface") -> Capture:
        """What was captured on one interface; with None, on the only one that has packets. Others are not judged.

        `name` is its name, or its number in the file from 0 on, as 1 or #1. With `strict`, microseconds are refused.
        `option` chooses it on the command line.
        """
        used = sorted({packet.interface for packet in self.packets})
        if not used:
            raise Refused(f"{self.source}: no packet in it; was the interface the right one, and up?")
        number = self._chosen(used, name, option)
        interface = self.interfaces[number]
        if interface.link not in LINKS:
            raise Refused(
                f"{self.source}: {interface.name} has link type {interface.link}; Ethernet, Linux's `any`, PPP and raw IP can "
                "be read: capture on an interface of one of these"
            )
        if strict and interface.step >= MICROSECOND:
            raise Refused(
                f"{self.source}: stamps of {interface.name} have microseconds or coarser steps (--strict): capture with "
                "nanoseconds: tcpdump --time-stamp-precision nano, or dumpcap on an adapter that has them"
            )
        packets = [packet for packet in self.packets if packet.interface == number]
        return Capture(self.source, self.interfaces, packets)

    @property
    def interface(self) -> Interface:
        """Of the first packet: after `on`, of all."""
        return self.interfaces[self.packets[0].interface]

    def frames(self) -> Iterator[tuple[int, int, int, memoryview]]:
        """Stamp, link type, length on the wire and bytes of each packet."""
        for packet in self.packets:
            yield packet.stamp, self.interfaces[packet.interface].link, packet.length, packet.data

    def _chosen(self, used: list[int], name: str | None, option: str) -> int:
        names = [interface.name for interface in self.interfaces]
        labels = [names[index] if names.count(names[index]) == 1 else f"#{index} {names[index]}" for index in used]
        known = ", ".join(labels)
        if name is None and len(used) > 1:
            raise Refused(
                f"{self.source}: packets of several interfaces, with clocks of their own perhaps: name one ({option}): {known}"
            )
        wanted = [index for index in used if name in (None, names[index])]
        wanted = wanted or [index for index in used if name in (str(index), f"#{index}")]
        if not wanted:
            raise Refused(f"{self.source}: no packet of an interface {name}; there are {known}")
        if len(wanted) > 1:
            raise Refused(
                f"{self.source}: several interfaces have the name {name}: choose one by its number ({option} "
                f"{wanted[0]}): {known}"
            )
        return wanted[0]


def read(path: Path) -> Capture:
    """The packets of a pcap or a pcapng file, compressed or not."""
    return parse(str(path), unpacking.content(path))


def parse(source: str, data: bytes) -> Capture:
    """The same from its bytes; `source` names it in messages."""
    cursor = Cursor(source, data)
    magic = data[:4]
    if magic in READERS:
        return Capture(source, *READERS[magic](cursor))
    if any(known.startswith(magic) for known in READERS):
        cursor.take(4)
    raise Refused(f"{source}: neither pcap nor pcapng")


def is_capture(path: Path) -> bool:
    """Whether this is a capture and not a CSV, by its first bytes."""
    try:
        return unpacking.beginning(path, 4) in READERS
    except Refused:
        return False  # who reads it as a schedule says why
