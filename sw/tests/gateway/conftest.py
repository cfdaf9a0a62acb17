# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The gateway's programs are built once for all its tests; without its packages the tests are left out, by name."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sw.tests.gateway.redis_server import Redis, program
from sw.tests.gateway.virtual import Virtual

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session", autouse=True)
def programs() -> None:
    os.environ["DOWNBEAT_ROOT"] = str(ROOT)
    done = subprocess.run([ROOT / "scripts" / "gateway.sh", "tests"], text=True, capture_output=True, check=False)
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.fixture
def virtual(tmp_path: Path) -> Iterator[Callable[..., Virtual]]:
    """Makes gateways in virtual time; each in a directory of its own."""
    made: list[Virtual] = []

    def make(settings: str = "", key_lines: str = "") -> Virtual:
        home = tmp_path / str(len(made))
        home.mkdir()
        made.append(Virtual(home, settings, key_lines))
        return made[-1]

    yield make
    for each in made:
        each.__exit__(None, None, None)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    if program() is None:
        pytest.skip("no Redis server: apt-get install redis-tools")
    server = Redis(tmp_path)
    server.start()
    yield server
    server.kill()
