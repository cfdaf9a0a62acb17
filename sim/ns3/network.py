# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs the ns-3 program, with the core or with ns-3's own TCP as the sender, and reads what it wrote."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.ns3.settings import Settings

# The program ends itself after the wall limit; this much later it is ended.
GRACE_SECONDS = 60


class ProgramFailed(Exception):
    """The program ended without a result."""


@dataclass(frozen=True)
class Transfer:
    """Files of one run: result.json, and two CSV files as rows of text."""

    directory: Path
    result: dict[str, Any]
    events: list[dict[str, str]]
    series: list[dict[str, str]]

    def received(self) -> bytes:
        return (self.directory / "received.bin").read_bytes()


def run(
    program: Path,
    sender: str,
    settings: Settings,
    file: Path,
    directory: Path,
    waves: Path | None,
    pcap: Path | None,
    progress: Callable[[int, float], None],
) -> Transfer:
    """One transfer; `progress` hears of bytes received and virtual seconds."""
    directory.mkdir(parents=True, exist_ok=True)
    result = directory / "result.json"
    result.unlink(missing_ok=True)
    command = [str(program), f"--sender={sender}", f"--file={file}", f"--out={directory}", *settings.arguments()]
    if waves is not None:
        command.append(f"--waves={waves}")
    if pcap is not None:
        command.append(f"--pcap={pcap}")
    words: list[str] = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if line.startswith("progress "):
                    _, received, seconds = line.split()
                    progress(int(received), float(seconds))
                else:
                    words.append(line)
            status = process.wait(settings.wall_limit + GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise ProgramFailed(f"{sender}: no end {GRACE_SECONDS} s after its own limit") from None
    if status not in (0, 2) or not result.exists():
        raise ProgramFailed(f"{sender}: the ns-3 program ended with status {status}:\n{''.join(words[-20:])}")
    return Transfer(
        directory, json.loads(result.read_text()), _rows(directory / "events.csv"), _rows(directory / "series.csv")
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
