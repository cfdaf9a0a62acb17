# SPDX-License-Identifier: BSD-2-Clause-Patent
"""downbeat_tap as a child: ready for frames while the block lasts, and a result at its end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The program, which is ready for frames; it does not outlive the block."""
    # Without a buffer: one would take a quick program's result along with its first line, and `ended` find none.
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # "ready", or the end of a program that could not start
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[bytes], limit: float) -> dict[str, Any]:
    """The program's result; empty if it ends without one."""
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failure": "no end, and no answer to SIGTERM"}
    return json.loads(text) if text else {}
