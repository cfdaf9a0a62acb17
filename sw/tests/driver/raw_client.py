# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A program of a NIC process that has no libdownbeat: it writes where it likes (sw/driver/src/nic_protocol.h)."""

from __future__ import annotations

import array
import mmap
import os
import socket
import struct
from pathlib import Path
from types import TracebackType
from typing import Self

from downbeat_toe.driver import nic_status

from sw.tests.driver.mapped_core import number

LIMIT = 10.0  # seconds for the NIC to answer
PORT = 1  # the wish
HASH = number("downbeat_host.h", "DOWNBEAT_HOST_FORMAT_HASH")
COMMAND, NOTIFICATION = 128, 64  # bytes of an entry
COMMANDS, NOTIFICATIONS, ENTRIES = 256, 1024, 4096  # entries of a port's rings, and of its mailbox
COMMAND_HEAD = number("downbeat_host.h", "DOWNBEAT_HOST_NOTIFICATION_COMMAND_HEAD_OFFSET")
COMMAND_TAIL = number("downbeat_host.h", "DOWNBEAT_HOST_DOORBELL_COMMAND_TAIL_OFFSET")
NOTIFICATION_HEAD = number("downbeat_host.h", "DOWNBEAT_HOST_DOORBELL_NOTIFICATION_HEAD_OFFSET")
GEOMETRY = struct.Struct("<15I4xQ")
NAMES = (
    *("version", "format_hash", "policy_hash", "flows", "listeners", "ports", "port", "send", "receive"),
    *("mtu", "mss", "clock", "ip", "netmask", "gateway", "mac"),
)
MAILBOX = 128 + 8 * ENTRIES  # bytes
TAIL, HEAD_WANTED, HEAD, RING = 0, 4, 64, 128  # byte offsets in the mailbox


def requested(path: Path, wish: int) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(LIMIT)
    line.connect(str(path))
    line.send(struct.pack("<IIII", nic_status.PROTOCOL, 1, HASH, wish))
    return line


class RawClient:
    """A port of a NIC while the block lasts."""

    def __init__(self, path: Path) -> None:
        self.line = requested(path, PORT)
        data, rights, _, _ = self.line.recvmsg(4096, socket.CMSG_SPACE(32))
        error, problem = struct.unpack_from("<i252s", data)
        assert error == 0, problem
        self.geometry = dict(zip(NAMES, GEOMETRY.unpack_from(data, 256), strict=True))
        files = array.array("i", rights[0][2])
        self.files = list(files)
        self.memory, self.mailbox = (mmap.mmap(each, os.fstat(each).st_size) for each in self.files[:2])
        rings = COMMANDS * COMMAND + NOTIFICATIONS * NOTIFICATION
        payload = 2 * self.geometry["flows"] * max(self.geometry["send"], self.geometry["receive"])
        self.commands = payload + self.geometry["port"] * rings
        self.notifications = self.commands + COMMANDS * COMMAND

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.line.close()
        self.memory.close()
        self.mailbox.close()
        for each in self.files:
            os.close(each)

    def get(self, at: int) -> int:
        """A number of the mailbox."""
        return int(struct.unpack_from("<I", self.mailbox, at)[0])

    def set(self, at: int, value: int) -> None:
        struct.pack_into("<I", self.mailbox, at, value % (1 << 32))

    def put(self, offset: int, value: int) -> None:
        """A doorbell into the mailbox; the NIC is not woken."""
        tail = self.get(TAIL)
        struct.pack_into("<II", self.mailbox, RING + 8 * (tail % ENTRIES), offset, value)
        self.set(TAIL, tail + 1)

    def wake(self) -> None:
        self.line.send(b"\0")
