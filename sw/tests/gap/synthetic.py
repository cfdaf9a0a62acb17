# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Captures and schedules for the tests, written by the formats' definitions."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from downbeat_toe.gap import probe

EPOCH = 1_790_000_000 * 10**9  # ns; a time of today's size
ENDS = (bytes([2, 0, 0, 0, 0, 2]), bytes([2, 0, 0, 0, 0, 1]))
Stamped = tuple[int, bytes]  # ns since EPOCH, frame


def probes(count: int, length: int = 100, flow: int = 0) -> list[bytes]:
    frame = probe.Frame(*ENDS, length)
    return [bytes(frame.number(flow, sequence, 0)) for sequence in range(count)]


def segment(sequence: int, payload: int, ports: tuple[int, int] = (40000, 5001)) -> bytes:
    """Ethernet, IPv4, TCP; checksums are nobody's concern here."""
    ip = struct.pack(">BBHIBBH4s4s", 0x45, 0, 40 + payload, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    tcp = struct.pack(">HHIIBBHI", *ports, sequence, 0, 0x50, 0x10, 1000, 0)
    return b"".join([*ENDS, b"\x08\x00", ip, tcp, bytes(payload)])


def pcap(frames: Iterable[Stamped], magic: int = 0xA1B23C4D, order: str = "<", link: int = 1) -> bytes:
    """`link`: the whole field, FCS bits included."""
    per_second = 10**9 if magic == 0xA1B23C4D else 10**6
    written = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)]
    for stamp, frame in frames:
        seconds, fraction = divmod(EPOCH + stamp, 10**9)
        head = struct.pack(order + "IIII", seconds, fraction * per_second // 10**9, len(frame), len(frame))
        written.append(head + frame)
    return b"".join(written)


@dataclass(frozen=True)
class Port:
    """An interface of a pcapng file."""

    name: str
    frames: Iterable[Stamped]
    resolution: bytes = b"\x09"  # if_tsresol; empty: none, so microseconds
    link: int = 1
    options: Sequence[tuple[int, bytes]] = ()
    packet_options: Sequence[tuple[int, bytes]] = ()
    old: bool = False  # packet blocks (type 2) instead of enhanced ones


def pcapng(interfaces: Sequence[tuple[str, bytes, Iterable[Stamped]]], order: str = "<") -> bytes:
    """Name, `if_tsresol` (empty: none) and frames of each interface."""
    return ports([Port(name, frames, resolution) for name, resolution, frames in interfaces], order)


def ports(interfaces: Sequence[Port], order: str = "<") -> bytes:
    written = [block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for port in interfaces:
        options = [(2, port.name.encode()), *([(9, port.resolution)] if port.resolution else []), *port.options]
        area = b"".join(_option(order, *option) for option in [*options, (0, b"")])
        written.append(block(order, 1, struct.pack(order + "HHI", port.link, 0, 0) + area))
    for number, port in enumerate(interfaces):
        code = port.resolution[0] if port.resolution else 6
        per_second = 2 ** (code & 0x7F) if code & 0x80 else 10**code
        area = b"".join(_option(order, *option) for option in port.packet_options)
        for stamp, frame in port.frames:
            units = (EPOCH + stamp) * per_second // 10**9
            first = struct.pack(order + ("HH" if port.old else "I"), *((number, 0xFFFF) if port.old else (number,)))
            head = struct.pack(order + "IIII", units >> 32, units & 0xFFFFFFFF, len(frame), len(frame))
            written.append(block(order, 2 if port.old else 6, first + head + _padded(frame) + area))
    return b"".join(written)


def schedule(path: Path, launches: Iterable[int], length: int = 100) -> Path:
    path.write_text("\n".join(["launch_ns,length", *(f"{launch},{length}" for launch in launches)]) + "\n")
    return path


def block(order: str, kind: int, body: bytes) -> bytes:
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def _option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(order + "HH", code, len(value)) + _padded(value)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
