# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The built library: build/estimator, by sw/estimator/Makefile."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from ctypes import CDLL
from pathlib import Path

import pytest
from downbeat_toe.estimator import Estimator, Options
from downbeat_toe.estimator.library import NAME, load

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "sw" / "estimator"


def built(out: Path, *options: str) -> Path:
    """The library's path; one process builds at a time."""
    out.mkdir(parents=True, exist_ok=True)
    command = ["flock", str(out), "make", "-s", "-C", str(SOURCES), f"OUT={out}", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(command, text=True, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return out / NAME


@pytest.fixture(scope="session")
def library() -> CDLL:
    return load(built(ROOT / "build" / "estimator"))


@pytest.fixture
def make(library: CDLL) -> Callable[..., Estimator]:
    """An estimator of the papers' options, with the changes that are named."""
    return lambda **changed: Estimator(Options(paper=True, changed=changed), library)


@pytest.fixture(scope="session")
def sanitized() -> Path:
    return built(ROOT / "build" / "estimator-sanitized", "SANITIZE=1")
