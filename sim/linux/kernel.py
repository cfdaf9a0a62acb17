# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The Linux side of a transfer: one socket of the kernel's TCP, which sends bytes or takes what comes."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sim.linux.namespace import CORE_IP, LINUX_IP

TICK_SECONDS = 0.1  # between two looks at whether the other side still runs
CHUNK_BYTES = 1 << 16
SELDOM_BYTES = 1 << 17
# struct tcp_info of <linux/tcp.h>: eight bytes, the sixth the options agreed on, then 32-bit numbers.
TCP_INFO_BYTES = 104
OPTIONS_BYTE = 5
OPTIONS = {1: "timestamps", 2: "SACK", 4: "window scale", 8: "ECN"}
TOTAL_RETRANSMISSIONS = 8 + 4 * 23


class KernelSideFailed(Exception):
    """The kernel's connection broke, or made no end in time."""


@dataclass(frozen=True)
class Outcome:
    """Times of the socket, from the first byte of its stream to the last."""

    data: bytes  # received
    seconds: float
    retransmissions: int
    congestion_control: str
    options: list[str]  # on which both sides agreed


@dataclass(frozen=True)
class TimeLimit:
    """Bounds every wait: by a deadline of time.monotonic, and by whether the core's program still runs."""

    deadline: float
    alive: Callable[[], bool]

    def wait(self, connection: socket.socket, event: int, what: str) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(connection, event)
            while not selector.select(TICK_SECONDS):
                if not self.alive():
                    raise KernelSideFailed(f"{what}: the core's program has ended")
                if time.monotonic() > self.deadline:
                    raise KernelSideFailed(f"{what}: the time is over")


def listen(port: int, congestion_control: str) -> socket.socket:
    listener = _socket(congestion_control)
    listener.bind((LINUX_IP, port))
    listener.listen(1)
    return listener


def receive(listener: socket.socket, time_limit: TimeLimit, *, delays_acks: bool = False) -> Outcome:
    """Accepts a connection, reads to its end and closes.

    `delays_acks`: from the first segment on. A read that empties the buffer brings an ACK, so it reads seldom.
    """
    time_limit.wait(listener, selectors.EVENT_READ, "accept")
    with _reset_if_it_fails(listener.accept()[0]) as connection:
        connection.setblocking(False)
        if delays_acks:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, SELDOM_BYTES)
        start = time.monotonic()
        return _outcome(connection, *_read_to_end(connection, time_limit), start)


def send(port: int, data: bytes, congestion_control: str, time_limit: TimeLimit, address: str = CORE_IP) -> Outcome:
    """Connects to `address`, sends `data`, and reads to the peer's end of the stream."""
    with _reset_if_it_fails(_socket(congestion_control)) as connection:
        connection.connect_ex((address, port))
        time_limit.wait(connection, selectors.EVENT_WRITE, "connect")
        start = time.monotonic()
        rest = memoryview(data)
        while rest:
            time_limit.wait(connection, selectors.EVENT_WRITE, "send")
            rest = rest[connection.send(rest[:CHUNK_BYTES]) :]
        connection.shutdown(socket.SHUT_WR)
        return _outcome(connection, *_read_to_end(connection, time_limit), start)


@contextmanager
def _reset_if_it_fails(connection: socket.socket) -> Iterator[socket.socket]:
    """Closes the connection at the end, with a RST after an error: else the kernel would go on for minutes, alone."""
    with connection:
        try:
            yield connection
        except (OSError, KernelSideFailed) as error:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raise KernelSideFailed(str(error)) from None


def _socket(congestion_control: str) -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    if congestion_control:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
    return made


def _read_to_end(connection: socket.socket, time_limit: TimeLimit) -> tuple[bytes, float]:
    """All bytes, and when the last of them came; without any, when the end did."""
    data, last = bytearray(), None
    while True:
        time_limit.wait(connection, selectors.EVENT_READ, "receive")
        part = connection.recv(CHUNK_BYTES)
        if not part:
            return bytes(data), last or time.monotonic()
        last = time.monotonic()
        data += part


def _outcome(connection: socket.socket, data: bytes, end: float, start: float) -> Outcome:
    seconds = end - start
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
    (retransmissions,) = struct.unpack_from("I", info, TOTAL_RETRANSMISSIONS)
    name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    options = [option for bit, option in OPTIONS.items() if info[OPTIONS_BYTE] & bit]
    return Outcome(data, seconds, retransmissions, name.rstrip(b"\0").decode(), options)
