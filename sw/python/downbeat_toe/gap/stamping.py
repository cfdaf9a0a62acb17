# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SO_TIMESTAMPING: which clock can stamp frames of an interface, and a raw socket whose frames are stamped by it.

Documentation/networking/timestamping.rst of Linux; numbers are those of its headers, as x86-64 and arm64 have them.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import socket
import struct
from dataclasses import dataclass

from downbeat_toe.refused import Refused

SO_TIMESTAMPING = SCM_TIMESTAMPING = 37
SO_RCVBUFFORCE = 33
SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING, PACKET_TX_TIMESTAMP = 263, 6, 23, 16
ETH_P_ALL = 0x0003
TX_HARDWARE, TX_SOFTWARE, RX_HARDWARE, RX_SOFTWARE = 1 << 0, 1 << 1, 1 << 2, 1 << 3
SOFTWARE, RAW_HARDWARE, OPT_ID, OPT_TSONLY = 1 << 4, 1 << 6, 1 << 7, 1 << 11
SIOCETHTOOL, ETHTOOL_GET_TS_INFO, SIOCSHWTSTAMP = 0x8946, 0x41, 0x89B0
HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL = 1, 1
RECEIVE_BUFFER = 256 << 20  # bytes; a frame takes its memory in pages, however short it is
LARGEST = 65_536
NANOSECONDS = 10**9


@dataclass(frozen=True)
class Offer:
    """What an interface says that it can do (struct ethtool_ts_info)."""

    flags: int
    phc: int  # number of its PTP hardware clock; -1: none
    tx_types: int  # bits by HWTSTAMP_TX_*
    rx_filters: int  # bits by HWTSTAMP_FILTER_*

    def hardware(self) -> bool:
        """Whether it can stamp every frame, both ways, by its own clock."""
        needed = TX_HARDWARE | RX_HARDWARE | RAW_HARDWARE
        able = self.tx_types >> HWTSTAMP_TX_ON & 1 and self.rx_filters >> HWTSTAMP_FILTER_ALL & 1
        return self.phc >= 0 and self.flags & needed == needed and bool(able)


@dataclass(frozen=True)
class Clock:
    """Whose stamps they are."""

    phc: int | None  # None: the system's CLOCK_REALTIME
    why: str = ""  # of the system's clock: why not the NIC's

    def same_as(self, other: Clock) -> bool:
        return self.phc == other.phc

    def __str__(self) -> str:
        if self.phc is not None:
            return f"hardware, raw, of the NIC's clock /dev/ptp{self.phc}"
        return f"software, of the system's clock ({self.why})" if self.why else "software, of the system's clock"


class Request(ctypes.Structure):
    """struct ifreq with a pointer."""

    _fields_ = (("name", ctypes.c_char * 16), ("data", ctypes.c_void_p), ("rest", ctypes.c_char * 16))


def offer(interface: str) -> Offer:
    """Raises Refused where there is no such interface."""
    words = _request(interface, SIOCETHTOOL, struct.pack("I40x", ETHTOOL_GET_TS_INFO))
    _, flags, phc, tx_types, *_ = struct.unpack_from("IIiI", words)
    (rx_filters,) = struct.unpack_from("I", words, 28)
    return Offer(flags, phc, tx_types, rx_filters)


def clock(interface: str) -> Clock:
    """The best clock of this interface, switched on."""
    try:
        offered = offer(interface)
    except OSError as error:
        return Clock(None, f"{interface} does not say what it can: {error.strerror}")
    if not offered.hardware():
        return Clock(None, f"{interface} offers no hardware stamps for all frames")
    try:
        _request(interface, SIOCSHWTSTAMP, struct.pack("iii", 0, HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL))
    except OSError as error:
        return Clock(None, f"{interface}'s hardware stamps cannot be switched on: {error.strerror}")
    return Clock(offered.phc)


def receiver(interface: str, by: Clock) -> socket.socket:
    """A raw socket that gets every frame that arrives on the interface, with its stamp."""
    raw = _socket(interface, ETH_P_ALL)
    raw.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    flags = RX_SOFTWARE | SOFTWARE if by.phc is None else RX_HARDWARE | RAW_HARDWARE
    raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags)
    return raw


def sender(interface: str, by: Clock) -> socket.socket:
    """A raw socket for sending; stamps of what it sent come by its error queue (`departures`)."""
    raw = _socket(interface, 0)
    flags = TX_SOFTWARE | SOFTWARE if by.phc is None else TX_HARDWARE | RAW_HARDWARE
    raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags | OPT_ID | OPT_TSONLY)
    return raw


def arrival(raw: socket.socket, by: Clock) -> tuple[bytes, int | None]:
    """The next frame and its stamp in ns."""
    data, ancillary, _, _ = raw.recvmsg(LARGEST, 256)
    return data, _stamp(ancillary, by)


def departures(raw: socket.socket, by: Clock) -> list[tuple[int, int]]:
    """Number (from 0, in the order of sending) and stamp in ns of each frame whose stamp has come since the last
    call."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            _, ancillary, _, _ = raw.recvmsg(0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return found
        stamp = _stamp(ancillary, by)
        for level, kind, value in ancillary:
            if (level, kind) == (SOL_PACKET, PACKET_TX_TIMESTAMP) and stamp is not None:
                found.append((struct.unpack_from("I", value, 12)[0], stamp))


def dropped(raw: socket.socket) -> int:
    """Frames that this socket had no space for since the last call."""
    return int(struct.unpack("II", raw.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1])


def _stamp(ancillary: list[tuple[int, int, bytes]], by: Clock) -> int | None:
    for level, kind, value in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SCM_TIMESTAMPING):
            seconds, fraction = struct.unpack_from("qq", value, 0 if by.phc is None else 32)
            return seconds * NANOSECONDS + fraction or None
    return None


def _socket(interface: str, protocol: int) -> socket.socket:
    try:
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
        raw.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
        raw.bind((interface, protocol))
    except PermissionError:
        raise Refused("raw frames need root (or CAP_NET_RAW and CAP_NET_ADMIN): run it with sudo") from None
    except OSError as error:
        raise Refused(f"{interface}: {error.strerror}; see `ip link` for the interfaces there are") from None
    return raw


def _request(interface: str, command: int, words: bytes) -> bytes:
    """An ioctl on an interface, with a structure behind a pointer."""
    buffer = ctypes.create_string_buffer(words, 64)
    request = Request(interface.encode(), ctypes.addressof(buffer))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, command, request)
        except OSError as error:
            if error.errno == errno.ENODEV:
                raise Refused(f"{interface}: no such interface; see `ip link`") from None
            raise
    return buffer.raw
