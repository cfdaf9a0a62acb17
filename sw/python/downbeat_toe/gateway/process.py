# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The gateway's programs, and a gateway of one's own on loopback: for the demo, the bench and the tests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from downbeat_toe.gateway import admin, keys
from downbeat_toe.refused import Refused

START_LIMIT = 15.0  # seconds for a start


def program(name: str, build: str = "gateway") -> Path:
    """Of the tree, or installed."""
    own = Path(os.environ.get("DOWNBEAT_ROOT", ".")) / "build" / build / name
    if own.is_file():
        return own
    found = shutil.which(name)
    if found is None:
        raise Refused(f"{name} is not built: make gateway")
    return Path(found)


def free_port(kind: int) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Site:
    """A running gateway in a directory of its own; ends with the block."""

    def __init__(
        self,
        *,
        settings: str = "",
        store: str = "embedded",
        home: Path | None = None,
        cpu: int | None = None,
        build: str = "gateway",
    ) -> None:
        self.temporary = None if home else tempfile.TemporaryDirectory(prefix="downbeat-gateway-")
        self.home = home or Path(self.temporary.name if self.temporary else ".")
        self.keys = self.home / "keys"
        self.admin = self.home / "admin.sock"
        self.config = self.home / "gateway.toml"
        self.log = self.home / "log"
        self.store, self.cpu, self.build = store, cpu, build
        self.udp, self.metrics, self.health = (
            free_port(kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_STREAM)
        )
        if not self.keys.exists():
            keys.new(self.keys)
        self.config.write_text(
            f'[listen]\nudp = "127.0.0.1:{self.udp}"\nunix = "{self.home}/gateway.sock"\nadmin = "{self.admin}"\n'
            f'metrics = "127.0.0.1:{self.metrics}"\nhealth = "127.0.0.1:{self.health}"\n'
            f'[keys]\nfile = "{self.keys}"\n{settings}'
        )
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Site:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        if self.temporary:
            self.temporary.cleanup()

    @property
    def uri(self) -> str:
        return f"udp://127.0.0.1:{self.udp}"

    def start(self) -> None:
        command = [str(program("downbeat-gateway", self.build)), "--config", str(self.config), "--store", self.store]
        if self.cpu is not None:
            command = ["taskset", "-c", str(self.cpu), *command]
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stderr=log)
        end = time.monotonic() + START_LIMIT
        while '"event":"listening"' not in (text := self.log.read_text()[before:]):
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise Refused(text.strip() or "the gateway did not start")
            time.sleep(0.005)

    def stop(self, number: int = signal.SIGTERM) -> int | None:
        """The status with which it ended."""
        process, self.process = self.process, None
        if process is None:
            return None
        process.send_signal(number)
        return process.wait(START_LIMIT)

    def events(self, name: str) -> list[dict[str, Any]]:
        """The log's lines of that event."""
        lines: Sequence[dict[str, Any]] = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line["event"] == name]

    def ask(self, target: str) -> dict[str, Any]:
        return admin.ask(self.admin, target)
