# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A redis-server of one's own, for the tests and the experiment of several gateways."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from downbeat_toe.gateway.process import free_port
from downbeat_toe.refused import Refused


def program() -> str | None:
    """The server's file: Debian's redis-tools has it under its other name, without a service."""
    return shutil.which("redis-server") or shutil.which("redis-check-rdb")


class Redis:
    """A redis-server on loopback, without files."""

    def __init__(self, home: Path) -> None:
        self.home, self.port = home, free_port(socket.SOCK_STREAM)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self.home))
        command = ["redis-server", "--port", str(self.port), *options]
        self.process = subprocess.Popen(command, executable=program(), stdout=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                self.command("PING")
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise Refused("redis-server did not start")

    def kill(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def command(self, *words: str | bytes) -> bytes:
        """One command; the beginning of the raw reply."""
        parts = [word.encode() if isinstance(word, str) else word for word in words]
        text = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(text)
            return connection.recv(65536)
