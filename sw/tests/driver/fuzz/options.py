# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Options that a lane draws: those that hold over the core as over the kernel. What the core refuses is in
docs/reference/driver.md."""

from __future__ import annotations

import socket
import struct

TCP, SOCKET, IP = socket.IPPROTO_TCP, socket.SOL_SOCKET, socket.IPPROTO_IP


def _number(*values: int) -> tuple[bytes, ...]:
    return tuple(struct.pack("i", value) for value in values)


def _pair(*values: tuple[int, int]) -> tuple[bytes, ...]:
    return tuple(struct.pack("ii", *value) for value in values)


SHORT_VALUE = b"\1"  # EINVAL
# Name, level, option, values.
SET: tuple[tuple[str, int, int, tuple[bytes, ...]], ...] = (
    ("SO_KEEPALIVE", SOCKET, socket.SO_KEEPALIVE, (*_number(0, 1), SHORT_VALUE)),
    ("SO_LINGER", SOCKET, socket.SO_LINGER, _pair((0, 0), (1, 0), (1, 2))),
    ("SO_RCVLOWAT", SOCKET, socket.SO_RCVLOWAT, _number(0, 1, 800, -1)),
    ("SO_REUSEPORT", SOCKET, socket.SO_REUSEPORT, _number(0, 1)),
    ("SO_OOBINLINE", SOCKET, socket.SO_OOBINLINE, _number(0, 1)),
    ("SO_PRIORITY", SOCKET, socket.SO_PRIORITY, _number(0, 6)),
    ("SO_RCVBUF", SOCKET, socket.SO_RCVBUF, _number(100_000)),
    ("SO_SNDBUF", SOCKET, socket.SO_SNDBUF, _number(100_000)),
    ("TCP_NODELAY", TCP, socket.TCP_NODELAY, (*_number(1, 2), SHORT_VALUE)),
    ("TCP_KEEPIDLE", TCP, socket.TCP_KEEPIDLE, _number(0, 1000, 32767, 32768)),
    ("TCP_KEEPINTVL", TCP, socket.TCP_KEEPINTVL, _number(0, 1000)),
    ("TCP_KEEPCNT", TCP, socket.TCP_KEEPCNT, _number(0, 3, 127, 128)),
    ("TCP_SYNCNT", TCP, socket.TCP_SYNCNT, _number(0, 3)),
    ("TCP_LINGER2", TCP, socket.TCP_LINGER2, _number(-1, 3)),
    ("TCP_QUICKACK", TCP, socket.TCP_QUICKACK, _number(1)),
    ("TCP_USER_TIMEOUT", TCP, socket.TCP_USER_TIMEOUT, _number(0, 90_000, -1)),
    ("TCP_NOTSENT_LOWAT", TCP, socket.TCP_NOTSENT_LOWAT, _number(-1)),
    ("TCP_CONGESTION", TCP, socket.TCP_CONGESTION, (b"none-such",)),
    ("TCP 12345", TCP, 12345, _number(1)),
    ("IP_TOS", IP, socket.IP_TOS, _number(0, 0x20)),
    ("IP_TTL", IP, socket.IP_TTL, _number(0, 64, 300)),
)
# Name, level, option, bytes of the buffer.
GET: tuple[tuple[str, int, int, int], ...] = (
    *((text, level, option, 8 if text == "SO_LINGER" else 4) for text, level, option, _ in SET[:5]),
    *((text, level, option, 4) for text, level, option, _ in SET[8:17] if text != "TCP_QUICKACK"),
    ("SO_ERROR", SOCKET, socket.SO_ERROR, 4),
    ("SO_ERROR, 1 byte", SOCKET, socket.SO_ERROR, 1),
    ("SO_ACCEPTCONN", SOCKET, socket.SO_ACCEPTCONN, 4),
    ("SO_TYPE", SOCKET, socket.SO_TYPE, 4),
    ("SO_PROTOCOL", SOCKET, socket.SO_PROTOCOL, 4),
    ("SO_PEERCRED", SOCKET, socket.SO_PEERCRED, 12),
    ("SO_RCVTIMEO", SOCKET, socket.SO_RCVTIMEO, 16),
    ("TCP 12345", TCP, 12345, 4),
    ("IP_TOS", IP, socket.IP_TOS, 4),
    ("IP_TTL", IP, socket.IP_TTL, 4),
)
