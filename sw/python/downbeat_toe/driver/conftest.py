# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver, built; a device in this process (sim:) and ports of a NIC process (simd:), each with the loopback model."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from downbeat_toe.driver import Device, Error, Item
from downbeat_toe.driver.binding import Connection, Listener
from downbeat_toe.driver.process import Nic

ROOT = Path(__file__).resolve().parents[4]
BUILD = ROOT / "build" / "driver"
MODEL = "loopback"
OWN = 0x0A000001
LIMIT = 20.0  # seconds for anything to happen
STEP = 10_000 << 16  # of a simulation's time, 2^-16 ns


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    """What DOWNBEAT_DRIVER names, as one with a sanitizer, or this tree's; one process builds at a time."""
    if "DOWNBEAT_DRIVER" not in os.environ:
        BUILD.mkdir(parents=True, exist_ok=True)
        command = ["flock", str(BUILD), "make", "-s", "-j2", "-C", str(ROOT / "sw" / "driver")]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(command, text=True, capture_output=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        os.environ["DOWNBEAT_DRIVER"] = str(BUILD)
    os.environ["DOWNBEAT_MODELS"] = os.environ["DOWNBEAT_DRIVER"]


class Host:
    """A device, and what makes things happen on it."""

    def __init__(self, uri: str) -> None:
        self.device = Device(uri)
        self.simulated = uri.startswith("sim:")
        self.news: list[Item] = []

    def step(self) -> None:
        """Lets time pass, and takes the news."""
        if self.simulated:
            self.device.advance(self.device.now + STEP)
            self.news += self.device.poll()
        else:
            self.news += self.device.wait(0.02)

    def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, "did not happen in time"
            self.step()

    def listening(self, port: int, backlog: int = 16) -> Listener:
        listener = self.device.listen(port, backlog)
        self.until(lambda: listener.ready)
        return listener

    def pair(self, port: int = 5001) -> tuple[Connection, Connection]:
        """A connection of the device with itself: who opened it, who accepted it."""
        listener = self.listening(port)
        return self.joined(listener, port)

    def joined(self, listener: Listener, port: int) -> tuple[Connection, Connection]:
        out = self.device.connect(OWN, port)
        accepted = self.accepted(listener)
        self.until(lambda: out.info.established)
        return out, accepted

    def accepted(self, listener: Listener) -> Connection:
        """The next one, when it has come."""
        found: list[Connection] = []

        def there() -> bool:
            if connection := listener.accept():
                found.append(connection)
            return bool(found)

        self.until(there)
        return found[0]

    def ended(self, connection: Connection) -> Error:
        """How it ended, when it has."""
        self.until(lambda: connection.info.state == 0)
        return Error(connection.info.error)


@pytest.fixture
def nic(tmp_path: Path) -> Iterator[Nic]:
    with Nic(tmp_path / "nic.sock", "--preset", MODEL) as nic:
        yield nic


@pytest.fixture(params=["sim", "simd"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    if request.param == "sim":
        made = Host(f"sim:{MODEL}")
        with made.device:
            yield made
        return
    with Nic(tmp_path / "nic.sock", "--preset", MODEL) as process:
        made = Host(process.uri)
        with made.device:
            yield made
