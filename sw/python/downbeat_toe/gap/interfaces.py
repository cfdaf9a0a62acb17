# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Checks of a network interface before anything is sent on it. By ioctl: /sys shows another network namespace's."""

from __future__ import annotations

import fcntl
import socket
import struct
from pathlib import Path

from downbeat_toe.refused import Refused
from downbeat_toe.schedule import ETHERNET_HEADER, Schedule

SIOCGIFFLAGS, SIOCGIFMTU = 0x8913, 0x8921  # <linux/sockios.h>
IFF_UP = 1


def require(name: str) -> None:
    """Refuses an interface that does not exist or is down."""
    known = [there for _, there in socket.if_nameindex()]
    if name not in known:
        raise Refused(f"{name}: no such interface; there are {', '.join(known)}")
    if not _asked(name, SIOCGIFFLAGS, "H") & IFF_UP:
        raise Refused(f"{name} is down: ip link set {name} up")


def require_mtu(schedule: Schedule, name: str) -> None:
    """Refuses frames that the interface does not carry."""
    mtu = _asked(name, SIOCGIFMTU, "i")
    longest = int(schedule.length.argmax())
    if (length := int(schedule.length[longest])) > mtu + ETHERNET_HEADER:
        raise Refused(
            f"{schedule.source}: entry {longest + 1} has {length} bytes, {name} carries {mtu + ETHERNET_HEADER} (MTU {mtu} and "
            f"{ETHERNET_HEADER} of header): shorten it, or ip link set {name} mtu {length - ETHERNET_HEADER}"
        )


def speed(name: str) -> int | None:
    """Bits a second; None where the interface does not say."""
    try:
        megabits = int((Path("/sys/class/net") / name / "speed").read_text())
    except (OSError, ValueError):
        return None
    return megabits * 10**6 if megabits > 0 else None


def _asked(name: str, command: int, layout: str) -> int:
    request = struct.pack("16s24x", name.encode())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            answer = fcntl.ioctl(any_socket, command, request)
        except OSError as error:
            raise Refused(f"{name}: {error.strerror}") from None
    return int(struct.unpack_from(layout, answer, 16)[0])
