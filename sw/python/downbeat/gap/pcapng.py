# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The capture format of Wireshark (draft-ietf-opsawg-pcapng): sections, interfaces with clocks of their own, enhanced packets."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from downbeat.gap.cursor import LONGEST_PACKET, MICROSECONDS, Cursor, Interface, Packet, require_fine

NANOSECONDS = 10**9
MAGIC = b"\x0a\x0d\x0d\x0a"  # type of a section header, alike in both byte orders
SECTION, INTERFACE, SIMPLE_PACKET, ENHANCED_PACKET = 0x0A0D0D0A, 1, 3, 6
BYTE_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
IF_NAME, IF_TSRESOL, IF_TSOFFSET = 2, 9, 14  # options of an interface
LONGEST_BLOCK = 16 * LONGEST_PACKET


def read(cursor: Cursor) -> tuple[list[Interface], list[Packet]]:
    interfaces: list[Interface] = []
    offsets: list[int] = []  # ns, by interface
    packets: list[Packet] = []
    section = 0  # number of its first interface
    while cursor.at < len(cursor.data):
        kind, body = _block(cursor)
        if kind == SECTION:
            section = len(interfaces)
        elif kind == INTERFACE:
            interface, offset = _interface(cursor, body, len(interfaces))
            interfaces.append(interface)
            offsets.append(offset)
        elif kind == ENHANCED_PACKET:
            if len(body) < 20:
                raise cursor.damaged("a packet without stamp")
            number, high, low, kept, length = struct.unpack_from(cursor.order + "IIIII", body)
            number += section
            if number >= len(interfaces) or kept > len(body) - 20:
                raise cursor.damaged(f"a packet of {kept} bytes of interface {number}")
            interface = require_fine(cursor, interfaces[number])
            stamp = (high << 32 | low) * NANOSECONDS // interface.per_second + offsets[number]
            if not 0 <= stamp < 2**63:
                raise cursor.damaged(f"a stamp of {stamp} ns")
            packets.append(Packet(number, stamp, length, body[20 : 20 + kept]))
            cursor.packets += 1
        elif kind == SIMPLE_PACKET:
            raise cursor.damaged("a packet without a stamp (simple packet block)")
    return interfaces, packets


def _block(cursor: Cursor) -> tuple[int, memoryview]:
    """Type and body of the next block. A section header decides about the byte order of itself and what follows."""
    start = cursor.at
    if cursor.data[start : start + 4] == MAGIC:
        order = bytes(cursor.take(12)[8:])
        if order not in BYTE_ORDERS:
            raise cursor.damaged("a section header without byte order")
        cursor.order, cursor.at = BYTE_ORDERS[order], start
    kind, length = cursor.unpack("II")
    if not 12 <= length <= LONGEST_BLOCK or length % 4:
        raise cursor.damaged(f"a block of {length} bytes")
    body = cursor.take(length - 12)
    if cursor.unpack("I") != (length,):
        raise cursor.damaged("a block whose two lengths differ")
    return kind, body


def _interface(cursor: Cursor, body: memoryview, number: int) -> tuple[Interface, int]:
    if len(body) < 8:
        raise cursor.damaged("an interface without link type")
    (link,) = struct.unpack_from(cursor.order + "H", body)
    name, per_second, offset = f"#{number}", MICROSECONDS, 0
    for code, value in _options(cursor, body[8:]):
        if code == IF_NAME:
            name = bytes(value).decode(errors="replace").rstrip("\0")
        elif code == IF_TSRESOL and len(value) == 1:
            per_second = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
        elif code == IF_TSOFFSET and len(value) == 8:
            offset = struct.unpack(cursor.order + "q", value)[0] * NANOSECONDS
    return Interface(name, link, per_second), offset


def _options(cursor: Cursor, area: memoryview) -> list[tuple[int, memoryview]]:
    found, at = [], 0
    while at + 4 <= len(area):
        code, length = struct.unpack_from(cursor.order + "HH", area, at)
        if code == 0:
            break
        if at + 4 + length > len(area):
            raise cursor.damaged("an option that is longer than its block")
        found.append((code, area[at + 4 : at + 4 + length]))
        at += 4 + (length + 3) // 4 * 4
    return found


def write(path: Path, name: str, packets: Iterable[tuple[int, int, bytes]]) -> None:
    """A capture of one Ethernet interface, in nanoseconds: stamp, length on the wire and bytes kept of each packet."""
    interface = struct.pack("<HHI", 1, 0, 0) + _packed(IF_NAME, name.encode()) + _packed(IF_TSRESOL, b"\x09") + bytes(4)
    with path.open("wb") as file:
        file.write(_framed(SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        file.write(_framed(INTERFACE, interface))
        for stamp, length, data in packets:
            head = struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(data), length)
            file.write(_framed(ENHANCED_PACKET, head + data + bytes(-len(data) % 4)))


def _framed(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def _packed(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)
