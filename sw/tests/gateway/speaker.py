# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A host on a socket, for tests against the running program: the Python protocol, blocking, with a limit."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from types import TracebackType

from downbeat_toe.gateway import keys, wire

LIMIT = 5.0  # seconds for an answer


def newest(key_file: Path) -> tuple[int, bytes]:
    """Number and bytes of the site's key that hosts get."""
    words = [line.split() for line in key_file.read_text().splitlines() if line.startswith("key ")][-1]
    return int(words[1]), bytes.fromhex(words[2])


class Speaker:
    """One reporter with a session at the gateway of `address`, a port on loopback or the path of a Unix socket."""

    def __init__(self, address: int | Path, key_file: Path, reporter: int) -> None:
        number, site = newest(key_file)
        self.host = wire.Host(site, reporter, number)
        assert keys.issue(key_file, reporter).endswith(self.host.key.hex())
        if isinstance(address, int):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socket.connect(("127.0.0.1", address))
        else:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.socket.bind("")  # the kernel chooses a name (unix(7), autobind)
            self.socket.connect(str(address))
        self.socket.settimeout(LIMIT)
        self.hello()

    def __enter__(self) -> Speaker:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.socket.close()

    def hello(self) -> None:
        self._stamp()
        self.send(self.host.hello())
        self.send(self.host.challenged(self.socket.recv(2048)))
        self.host.welcomed(self.socket.recv(2048))

    def send(self, datagram: bytes) -> None:
        self.socket.send(datagram)

    def report(self, *items: bytes) -> None:
        self._stamp()
        self.send(self.host.report(*items))

    def request(self, *prefixes: str) -> list[wire.Response]:
        self._stamp()
        self.send(self.host.query(*prefixes))
        kind, body = self.host.opened(self.socket.recv(2048))
        assert kind == wire.RESPONSE
        return wire.responses(body)

    def learns(self, prefix: str, window: float, seconds: float = LIMIT) -> wire.Response:
        """Asks until the window is that one."""
        end = time.monotonic() + seconds
        while (known := self.request(prefix)[0]).window != window:
            assert time.monotonic() < end, f"{prefix}: {known}, and not {window}"
            time.sleep(0.02)
        return known

    def _stamp(self) -> None:
        self.host.stamp = time.monotonic_ns() // 10**6
