# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Programs of the system that a visit needs: whether they are there, and as children that do not outlive this
process."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sim.linux.namespace import Missing

STARTING_SECONDS = 10
GRACE_SECONDS = 5
# The kernel ends the child if this process dies, however that happens: else its namespace would stay.
BOUND_TO_US = ["setpriv", "--pdeathsig", "TERM"]
LISTEN = "0A"  # in /proc/net/tcp


class NotStarted(Exception):
    """A server of the system does not listen."""


def require(command: str, package: str) -> None:
    """Raises Missing, with the package to install."""
    if shutil.which(command) is None:
        raise Missing(f"{command} is missing; apt install {package}")


def run(command: list[str], seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Waits for the command, at most so long; 124 is then its status, as of timeout(1)."""
    try:
        return subprocess.run([*BOUND_TO_US, *command], capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 124, late.stdout or b"", b"not done in time")


@contextmanager
def serving(command: list[str], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The server, which listens; what it says goes to `output`. It does not outlive the block."""
    with (
        output.open("wb") as said,
        subprocess.Popen([*BOUND_TO_US, *command], stdout=said, stderr=subprocess.STDOUT) as server,
    ):
        try:
            if not _listens(server):
                raise NotStarted(f"{command[0]} does not start: {output.read_text(errors='replace').strip()}")
            yield server
        finally:
            server.terminate()
            try:
                server.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()


def _listens(server: subprocess.Popen[bytes]) -> bool:
    """Waits until its namespace has a socket that listens: nobody else lives there."""
    deadline = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        rows = Path(f"/proc/{server.pid}/net/tcp").read_text().splitlines()[1:]
        if any(row.split()[3] == LISTEN for row in rows):
            return True
        time.sleep(0.05)
    return False
