# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The classic capture format (draft-ietf-opsawg-pcap), with nanoseconds."""

from __future__ import annotations

from downbeat.gap.cursor import LONGEST_PACKET, MICROSECONDS, Cursor, Interface, Packet, require_fine

NANOSECONDS = 10**9
LINK_MASK = 0xFFFF  # above it: whether and how long an FCS is
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
    interface = require_fine(cursor, Interface("the capture", link & LINK_MASK, per_second))
    packets: list[Packet] = []
    while cursor.at < len(cursor.data):
        seconds, fraction, kept, length = cursor.unpack("IIII")
        if kept > LONGEST_PACKET or fraction >= per_second:
            raise cursor.damaged(f"a packet of {kept} bytes, {fraction} ns behind its second")
        packets.append(Packet(0, seconds * NANOSECONDS + fraction, length, cursor.take(kept)))
        cursor.packets += 1
    return [interface], packets
