# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A visit: a program of Linux and one on the core, in a network namespace of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sim.linux import namespace

GRACE_SECONDS = 15


@dataclass(frozen=True)
class Setting:
    """Settings of each visit."""

    program: Path  # downbeat_tap
    work: Path  # a directory for its files
    contents: bytes  # to send and fetch
    seed: int
    wall_limit: float  # seconds

    @property
    def time_limit(self) -> float:
        """Seconds: the core's program ends itself at the wall limit."""
        return self.wall_limit + GRACE_SECONDS

    def core(self, interface: str, port: int, *job: str) -> list[str]:
        """The command that puts the core on the interface to do a job."""
        own = [f"--core-ip={namespace.CORE_IP}", f"--core-mac={namespace.CORE_MAC}", f"--port={port}"]
        limits = [f"--seed={self.seed}", f"--wall-limit={self.wall_limit}"]
        return [str(self.program), f"--tap={interface}", *own, *limits, *job]


@dataclass(frozen=True)
class Visit:
    name: str  # for people
    figures: dict[str, Any]  # figures for interop.json
    failures: list[str]
    core: dict[str, Any]  # downbeat_tap's result; empty if it ended without one
    summary: str = field(default="")  # figures for people

    def as_json(self) -> dict[str, Any]:
        return {**self.figures, "failures": self.failures, "core": self.core}

    def line(self) -> str:
        return f"{self.name}: {self.summary}, {'; '.join(self.failures) or 'as it should be'}"


def core_failures(core: dict[str, Any]) -> list[str]:
    failure = core.get("failure", "its program ended without a result")
    return [f"core: {failure}"] if failure else []


def flows(layout: Path) -> int:
    """How many connections the core holds at once, by the numbers that its RTL wrote down."""
    return int(json.loads(layout.read_text())["numbers"]["flows"])
