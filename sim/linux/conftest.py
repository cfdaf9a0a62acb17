# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs `make interop` as a program, where that is possible: it needs root and network namespaces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

INTEROP = [sys.executable, "-m", "sim.linux"]
SEED = os.environ.get("SEED", "1")
SIZE = 200_000
LIMIT_SECONDS = 600  # a first build of the core is in it
# In a process of its own: it moves into another network namespace.
REQUIRE = """
from sim.linux import namespace
try:
    namespace.require()
except namespace.Missing as missing:
    print(missing)
"""


@pytest.fixture(autouse=True, scope="session")
def _possible() -> None:
    missing = subprocess.run(
        [sys.executable, "-c", REQUIRE], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    if missing:
        pytest.skip(missing.strip())


def run(reports: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Its output, and `interop.json` in `reports`; `path`: where it finds other programs."""
    command = [*INTEROP, f"--seed={SEED}", f"--reports={reports}", *arguments]
    environment = os.environ | ({} if path is None else {"PATH": path})
    return subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
