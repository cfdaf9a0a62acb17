# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The classic capture format (draft-ietf-opsawg-pcap), with nanoseconds or microseconds."""

from __future__ import annotations

from downbeat_toe.gap.cursor import LONGEST_PACKET, MICROSECONDS, NANOSECONDS, Cursor, Interface, Packet, packet

LINK_MASK = 0xFFFF
FCS_PRESENT, FCS_SHIFT, FCS_UNIT = 0x04000000, 28, 2  # above the link type: whether there is an FCS; its 16-bit words
# Magic number as it stands in the file: byte order, units in a second.
MAGICS = {
    b"\x4d\x3c\xb2\xa1": ("<", NANOSECONDS),
    b"\xa1\xb2\x3c\x4d": (">", NANOSECONDS),
    b"\xd4\xc3\xb2\xa1": ("<", MICROSECONDS),
    b"\xa1\xb2\xc3\xd4": (">", MICROSECONDS),
}


def read(cursor: Cursor) -> tuple[list[Interface], list[Packet]]:
    cursor.order, per_second = MAGICS[bytes(cursor.take(4))]
    *_, link = cursor.unpack("HHiIII")
    fcs = FCS_UNIT * (link >> FCS_SHIFT) if link & FCS_PRESENT else 0
    interface = Interface("the capture", link & LINK_MASK, per_second, fcs)
    packets: list[Packet] = []
    while cursor.at < len(cursor.data):
        seconds, fraction, kept, length = cursor.unpack("IIII")
        if kept > LONGEST_PACKET or fraction >= per_second:
            raise cursor.damaged(f"a packet of {kept} bytes, {fraction} units behind its second")
        stamp = seconds * NANOSECONDS + fraction * NANOSECONDS // per_second
        packets.append(packet(0, stamp, length, cursor.take(kept), fcs))
        cursor.packets += 1
    return [interface], packets
