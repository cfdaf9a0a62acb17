# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A redis-server of one's own, for the tests and the experiment of several gateways."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from downbeat_toe.gateway.process import Site, free_port
from downbeat_toe.refused import Refused


def program() -> str | None:
    """The server's file: Debian's redis-tools has it under its other name, without a service."""
    return shutil.which("redis-server") or shutil.which("redis-check-rdb")


class Redis:
    """A redis-server on loopback, without files."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home, self.port, self.options = home, free_port(socket.SOCK_STREAM), options
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self.home))
        command = ["redis-server", "--port", str(self.port), *options, *self.options]
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


def second_site(first: Site, store: str, home: Path, settings: str = "") -> Site:
    """A gateway with the keys of the first."""
    home.mkdir()
    shutil.copy(first.keys, home / "keys")
    return Site(store=store, home=home, settings=settings)


def health(site: Site) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{site.health}/health", timeout=5) as reply:
        return str(json.loads(reply.read())["status"])


def becomes(site: Site, status: str) -> None:
    end = time.monotonic() + 10
    while health(site) != status:
        assert time.monotonic() < end, f"not {status}"
        time.sleep(0.02)
