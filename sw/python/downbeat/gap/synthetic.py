# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Captures and schedules for the tests, written by the formats' definitions."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from downbeat.gap import probe

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
    per_second = 10**9 if magic == 0xA1B23C4D else 10**6
    written = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)]
    for stamp, frame in frames:
        seconds, fraction = divmod(EPOCH + stamp, 10**9)
        head = struct.pack(order + "IIII", seconds, fraction * per_second // 10**9, len(frame), len(frame))
        written.append(head + frame)
    return b"".join(written)


def pcapng(interfaces: Sequence[tuple[str, bytes, Iterable[Stamped]]], order: str = "<") -> bytes:
    """Name, `if_tsresol` (empty: none) and frames of each interface."""
    written = [_block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for name, resolution, _ in interfaces:
        options = _option(order, 2, name.encode()) + (_option(order, 9, resolution) if resolution else b"")
        written.append(_block(order, 1, struct.pack(order + "HHI", 1, 0, 0) + options + _option(order, 0, b"")))
    for number, (_, resolution, frames) in enumerate(interfaces):
        code = resolution[0] if resolution else 6
        per_second = 2 ** (code & 0x7F) if code & 0x80 else 10**code
        for stamp, frame in frames:
            units = (EPOCH + stamp) * per_second // 10**9
            head = struct.pack(order + "IIIII", number, units >> 32, units & 0xFFFFFFFF, len(frame), len(frame))
            written.append(_block(order, 6, head + _padded(frame)))
    return b"".join(written)


def schedule(path: Path, launches: Iterable[int], length: int = 100) -> Path:
    path.write_text("\n".join(["launch_ns,length", *(f"{launch},{length}" for launch in launches)]) + "\n")
    return path


def _block(order: str, kind: int, body: bytes) -> bytes:
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def _option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(order + "HH", code, len(value)) + _padded(value)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
