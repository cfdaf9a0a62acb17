# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Options of pcapng's blocks (draft-ietf-opsawg-pcapng, 3.5): a code, a length, a value padded to 32 bits."""

from __future__ import annotations

import struct

from downbeat_toe.gap.cursor import Cursor

IF_NAME, IF_TSRESOL, IF_FCSLEN, IF_TSOFFSET = 2, 9, 13, 14  # of an interface
EPB_FLAGS = 2  # of a packet


def options(cursor: Cursor, area: memoryview) -> list[tuple[int, memoryview]]:
    """Code and value of each option in this part of a block."""
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


def packed(code: int, value: bytes) -> bytes:
    """One option, little-endian."""
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)
