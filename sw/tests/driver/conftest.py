# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver, built; a device in this process (sim:) and ports of a NIC process (simd:), each with the loopback
model."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from downbeat_toe.driver import Device, Error, Item, State
from downbeat_toe.driver.binding import Connection, Listener

from sw.tests.driver.mapped_core import Core
from sw.tests.driver.process import Nic

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build" / "driver"
MODEL = "loopback"
OWN, SELF = 0x0A000001, 0x0A000002  # at the second address the device reaches itself
LOOPED = ("--preset", MODEL, "--loop", "10.0.0.2")  # a NIC's arguments
LIMIT = 60.0  # seconds for anything to happen
STEP = 10_000 << 16  # of a simulation's time, 2^-16 ns
NEVER = (1 << 64) - 1
SIZE = 4_000_000 if os.environ.get("SOAK") else 200_000


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    build_driver()
    os.environ["DOWNBEAT_MODELS"] = os.environ["DOWNBEAT_DRIVER"]


def build_driver() -> None:
    """What DOWNBEAT_DRIVER names, as one with a sanitizer, or this tree's; one process builds at a time."""
    if "DOWNBEAT_DRIVER" not in os.environ:
        BUILD.mkdir(parents=True, exist_ok=True)
        command = ["flock", str(BUILD), "make", "-s", "-j2", "-C", str(ROOT / "sw" / "driver")]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(command, text=True, capture_output=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        os.environ["DOWNBEAT_DRIVER"] = str(BUILD)


def mirrored(frame: bytes) -> bytes:
    """As if the peer had sent to the device what the device sends to it; checksums stay."""
    names = {OWN.to_bytes(4, "big"): SELF.to_bytes(4, "big"), b"\x02\0\0\0\0\x01": b"\x02\0\0\0\0\x02"}
    names |= {other: one for one, other in names.items()}
    arp = frame[12:14] == b"\x08\x06"
    places = [(0, 6), (6, 12), *([(22, 28), (32, 38), (28, 32), (38, 42)] if arp else [(26, 30), (30, 34)])]
    whole = bytearray(frame)
    for start, end in places:
        whole[start:end] = names.get(frame[start:end], frame[start:end])
    return bytes(whole)


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    made = Core(tmp_path)
    yield made
    made.stop()


class Host:
    """A device, and what makes things happen on it."""

    def __init__(self, uri: str, size: int = SIZE) -> None:
        self.device = Device(uri)
        self.size = size  # bytes of a transfer
        self.simulated = uri.startswith("sim:")
        self.ready: list[Item] = []

    def advance(self) -> None:
        """A simulated device's time passes. What it sends comes back to it."""
        deadline = self.device.next_deadline
        self.device.advance(max(self.device.now + STEP, deadline if deadline != NEVER else 0))
        while frame := self.device.get_frame():
            self.device.put_frame(mirrored(frame[0]), max(frame[1] + STEP, self.device.now))

    def step(self) -> None:
        """Lets time pass, and takes what is ready."""
        if self.simulated:
            self.advance()
            self.ready += self.device.poll()
        else:
            self.ready += self.device.wait(0.02)

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
        out = self.device.connect(SELF, port)
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
        self.until(lambda: connection.info.state in (State.CLOSED, State.TIME_WAIT))
        return Error(connection.info.error)


@pytest.fixture
def size() -> int:
    return SIZE


@pytest.fixture
def nic(tmp_path: Path) -> Iterator[Nic]:
    with Nic(tmp_path / "nic.sock", *LOOPED) as nic:
        yield nic


@pytest.fixture(params=["sim", "simd"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    if request.param == "sim":
        made = Host(f"sim:{MODEL}")
        with made.device:
            yield made
        return
    with Nic(tmp_path / "nic.sock", *LOOPED) as process:
        made = Host(process.uri)
        with made.device:
            yield made
