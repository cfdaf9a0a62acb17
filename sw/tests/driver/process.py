# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A NIC process of one's own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from downbeat_toe.driver.library import program
from downbeat_toe.refused import Refused


def preloaded(directory: Path, source: str) -> dict[str, str]:
    """An environment with a library of C before the others."""
    (directory / "before.c").write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "before.so", "before.c"], cwd=directory, check=True)
    return os.environ | {"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {directory}/before.so".strip()}


class Nic:
    """downbeat-nic, ready for programs while the block lasts."""

    def __init__(
        self, socket: Path, *arguments: str, environment: Mapping[str, str] | None = None, before: Sequence[str] = ()
    ) -> None:
        """`before`: a command that becomes the NIC, as setpriv does."""
        self.socket = socket
        self.command = [*before, str(program("downbeat-nic")), "--device", self.uri, *arguments]
        self.environment = environment
        self.process: subprocess.Popen[str] | None = None
        self.said = ""  # its line when it is ready

    @property
    def uri(self) -> str:
        return f"simd:{self.socket}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self.command, stdout=pipe, stderr=pipe, text=True, env=self.environment)
        assert self.process.stdout and self.process.stderr
        self.said = self.process.stdout.readline()
        if not self.said.startswith("ready: "):
            problem = self.process.stderr.read().strip()
            self.stop()
            raise Refused(problem or "downbeat-nic ended at once")

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self.process:
            self.process.send_signal(number)
            self.process.communicate(timeout=15)
            self.process = None
