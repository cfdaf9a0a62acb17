# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reading a capture, with exact nanoseconds.

Own code beside the libraries that read these formats: docs/decisions/captures-and-allan-deviation-by-ourselves.md says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from downbeat.gap import pcap, pcapng
from downbeat.gap.cursor import Cursor, Interface, Packet
from downbeat.refused import Refused


@dataclass(frozen=True)
class Capture:
    source: str
    interfaces: list[Interface]
    packets: list[Packet]

    def on(self, name: str | None) -> Capture:
        """What was captured on one interface; with None, on the only one that has packets."""
        used = sorted({packet.interface for packet in self.packets})
        if not used:
            raise Refused(f"{self.source}: no packet in it; was the interface the right one, and up?")
        known = ", ".join(self.interfaces[index].name for index in used)
        if name is None and len(used) > 1:
            raise Refused(
                f"{self.source}: packets of several interfaces, with clocks of their own perhaps: name one (--interface): {known}"
            )
        wanted = [index for index in used if name in (None, self.interfaces[index].name)]
        if not wanted:
            raise Refused(f"{self.source}: no packet of an interface {name}; there are {known}")
        packets = [packet for packet in self.packets if packet.interface in wanted]
        return Capture(self.source, self.interfaces, packets)

    def frames(self) -> Iterator[tuple[int, int, int, memoryview]]:
        """Stamp, link type, length on the wire and bytes of each packet."""
        for packet in self.packets:
            yield packet.stamp, self.interfaces[packet.interface].link, packet.length, packet.data


def read(path: Path) -> Capture:
    """The packets of a nanosecond pcap or a pcapng file."""
    try:
        return parse(str(path), path.read_bytes())
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None


def parse(source: str, data: bytes) -> Capture:
    """The same from its bytes; `source` names it in messages."""
    cursor = Cursor(source, data)
    readers: dict[bytes, Callable[[Cursor], tuple[list[Interface], list[Packet]]]] = {
        **dict.fromkeys(pcap.MAGICS, pcap.read),
        pcapng.MAGIC: pcapng.read,
    }
    magic = data[:4]
    if magic in readers:
        return Capture(source, *readers[magic](cursor))
    if any(known.startswith(magic) for known in readers):
        cursor.take(4)
    hint = ": gunzip it first" if magic[:2] == b"\x1f\x8b" else ""
    raise Refused(f"{source}: neither pcap nor pcapng{hint}")


def is_capture(path: Path) -> bool:
    """Whether this looks like a capture and not like a CSV."""
    return path.suffix in (".pcap", ".pcapng", ".cap")
