# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Calling `downbeat` as a user does, for the tests; also between the ends of a virtual cable."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """import subprocess, sys, time
from downbeat_toe.gap import veth
veth.enter()
downbeat = [sys.executable, '-m', 'downbeat_toe']
"""


def downbeat(
    *arguments: object, stdout: int = subprocess.PIPE, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "downbeat_toe", *map(str, arguments)]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False, cwd=cwd)


def inside(script: str, *arguments: object) -> str:
    """What a script prints that has the cable's ends, and the command as the list `downbeat`; skips where no cable can
    be."""
    if missing := _missing():
        pytest.skip(missing)
    done = _run(HEAD + script, *map(str, arguments))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@functools.cache
def _missing() -> str:
    """Why this user or machine has no virtual cable; empty: it has."""
    done = _run(
        "from downbeat_toe.gap import veth\nfrom downbeat_toe.refused import explained\nwith explained(): veth.enter()"
    )
    return done.stderr.splitlines()[0] if done.returncode else ""


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", *arguments], capture_output=True, text=True, timeout=120, check=False)
