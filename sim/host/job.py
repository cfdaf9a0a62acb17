# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A server and a client of the system, one of which runs over the core."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """`serve` and `ask` make the commands for directory, address and port; `equal` looks at what the client left and
    said."""

    server: str
    client: str
    port: int
    needs: tuple[tuple[str, str], ...]  # command, package
    serve: Callable[[Path, str, int], list[str]]
    ask: Callable[[Path, str, int], list[str]]
    equal: Callable[[Path, str], bool]

    def missing(self) -> str:
        """Commands that this machine has not, with their packages."""
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        gone = [f"{command} ({package})" for command, package in self.needs if shutil.which(command, path=path) is None]
        return ", ".join(gone)
