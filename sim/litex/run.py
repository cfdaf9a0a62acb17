# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The computer's two transfers with the kernel: it gets a file from a server here, then a client here gets it back."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sim.linux import namespace
from sim.litex.firmware import OWN_PORT, SERVER_PORT


class Failed(Exception):
    """A transfer did not come to its end; the message says which, and what the console had."""


@dataclass
class Console:
    """The firmware prints lines of a word and a hexadecimal number."""

    program: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._update = threading.Condition()
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.program.stdout is not None
        with suppress(ValueError):  # closed at the end, when nobody reads on
            for line in self.program.stdout:
                with self._update:
                    self.lines.append(line.rstrip())
                    self._update.notify_all()
        with self._update:
            self.ended = True
            self._update.notify_all()

    def number(self, word: str, end: float) -> int:
        """The number behind `word`, awaited until time.monotonic() is `end`. Raises Failed."""

        def found() -> list[str]:
            return [match[1] for line in self.lines if (match := re.search(rf"\b{word} ([0-9a-f]{{8}})$", line))]

        with self._update:
            self._update.wait_for(lambda: found() or self.ended, max(0.0, end - time.monotonic()))
            if not found():
                raise Failed(f"the firmware did not print {word}; {self.last_lines()}")
            return int(found()[-1], 16)

    def last_lines(self) -> str:
        return f"{'the simulator ended; ' if self.ended else ''}its console: {' | '.join(self.lines[-4:])}"


@dataclass(frozen=True)
class Result:
    client_equal: bool
    server_equal: bool
    client_seconds: float
    server_seconds: float


def transfers(program: Path, contents: bytes, wall_limit: int) -> Result:
    """Runs in a namespace of its own. Raises Failed, and Missing where this user can make none."""
    end = time.monotonic() + wall_limit
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with (
        namespace.interface(),
        socket.create_server((namespace.LINUX_IP, SERVER_PORT)) as server,
        subprocess.Popen([program], cwd=program.parents[1], text=True, errors="replace", **pipes) as simulator,
    ):
        try:
            return _both(Console(simulator), server, contents, end)
        except OSError as error:
            raise Failed(f"the kernel's side: {error}") from None
        finally:
            simulator.kill()


def _accepted(console: Console, server: socket.socket, end: float) -> socket.socket:
    """The firmware's connection. Raises Failed."""
    server.settimeout(1.0)
    while not console.ended and time.monotonic() < end:
        with suppress(TimeoutError):
            return server.accept()[0]
    raise Failed(f"the firmware did not connect; {console.last_lines()}")


def _both(console: Console, server: socket.socket, contents: bytes, end: float) -> Result:
    started = time.monotonic()
    peer = _accepted(console, server, end)
    with peer:
        peer.settimeout(end - started)
        peer.sendall(contents)
        peer.shutdown(socket.SHUT_WR)
        client_equal = console.number("got", end) == len(contents)
        client_equal &= console.number("crc", end) == zlib.crc32(contents)
    turned = time.monotonic()
    returned = bytearray()
    with socket.create_connection((namespace.CORE_IP, OWN_PORT), max(1.0, end - turned)) as client:
        client.settimeout(max(1.0, end - time.monotonic()))
        while part := client.recv(1 << 16):
            returned += part
    seconds = turned - started, time.monotonic() - turned
    return Result(client_equal, returned == contents, *(round(each, 1) for each in seconds))
