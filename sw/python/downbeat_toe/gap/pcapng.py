# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reads the capture format of Wireshark (draft-ietf-opsawg-pcapng): sections, interfaces with clocks of their own,
packets."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from downbeat_toe.gap.cursor import LONGEST_PACKET, MICROSECONDS, NANOSECONDS, Cursor, Interface, Packet, packet
from downbeat_toe.gap.pcapng_options import EPB_FLAGS, IF_FCSLEN, IF_NAME, IF_TSOFFSET, IF_TSRESOL, options, packed
from downbeat_toe.refused import Refused

MAGIC = b"\x0a\x0d\x0d\x0a"  # type of a section header, alike in both byte orders
SECTION, INTERFACE, OLD_PACKET, SIMPLE_PACKET, ENHANCED_PACKET = 0x0A0D0D0A, 1, 2, 3, 6
BYTE_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
LONGEST_BLOCK = 16 * LONGEST_PACKET
PACKET_HEAD = 20  # bytes of a packet block before the packet
BITS_FROM = 16  # an if_fcslen below it is of bytes: writers disagree with the draft, which counts bits
FCS_BITS, FCS_SHIFT = 0xF, 5  # of epb_flags: bytes of FCS; 0: as the interface says


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
        elif kind in (ENHANCED_PACKET, OLD_PACKET):
            packets.append(_packet(cursor, kind, body, section, interfaces, offsets))
            cursor.packets += 1
        elif kind == SIMPLE_PACKET:
            raise Refused(
                f"{cursor.source}: packet {cursor.packets + 1} has no time stamp (a simple packet block): capture with "
                "a program that stamps, as dumpcap or tcpdump"
            )
    return interfaces, packets


def _packet(
    cursor: Cursor, kind: int, body: memoryview, section: int, interfaces: list[Interface], offsets: list[int]
) -> Packet:
    """An enhanced packet block (4.3), or the obsolete packet block (appendix A), whose number is of 16 bits."""
    if len(body) < PACKET_HEAD:
        raise cursor.damaged("a packet without stamp")
    number, high, low, kept, length = struct.unpack_from(cursor.order + "IIIII", body)
    if kind == OLD_PACKET:
        (number,) = struct.unpack_from(cursor.order + "H", body)
    number += section
    if number >= len(interfaces) or kept > len(body) - PACKET_HEAD:
        raise cursor.damaged(f"a packet of {kept} bytes of interface {number}")
    interface = interfaces[number]
    stamp = (high << 32 | low) * NANOSECONDS // interface.per_second + offsets[number]
    if not 0 <= stamp < 2**63:
        raise cursor.damaged(f"a stamp of {stamp} ns")
    fcs = interface.fcs
    for code, value in options(cursor, body[PACKET_HEAD + (kept + 3) // 4 * 4 :]):
        if code == EPB_FLAGS and len(value) == 4:
            fcs = struct.unpack(cursor.order + "I", value)[0] >> FCS_SHIFT & FCS_BITS or fcs
    return packet(number, stamp, length, body[PACKET_HEAD : PACKET_HEAD + kept], fcs)


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
    name, per_second, offset, fcs = f"#{number}", MICROSECONDS, 0, 0
    for code, value in options(cursor, body[8:]):
        if code == IF_NAME:
            name = bytes(value).decode(errors="replace").rstrip("\0") or name
        elif code == IF_TSRESOL and len(value) == 1:
            per_second = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
        elif code == IF_TSOFFSET and len(value) == 8:
            offset = struct.unpack(cursor.order + "q", value)[0] * NANOSECONDS
        elif code == IF_FCSLEN and len(value) == 1:
            fcs = value[0] // 8 if value[0] >= BITS_FROM else value[0]
    return Interface(name, link, per_second, fcs), offset


def write(path: Path, name: str, packets: Iterable[tuple[int, int, bytes]]) -> None:
    """A capture of one Ethernet interface, in nanoseconds: stamp, length on the wire and bytes kept of each packet."""
    interface = struct.pack("<HHI", 1, 0, 0) + packed(IF_NAME, name.encode()) + packed(IF_TSRESOL, b"\x09") + bytes(4)
    with path.open("wb") as file:
        file.write(_framed(SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        file.write(_framed(INTERFACE, interface))
        for stamp, length, data in packets:
            head = struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(data), length)
            file.write(_framed(ENHANCED_PACKET, head + data + bytes(-len(data) % 4)))


def _framed(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length
