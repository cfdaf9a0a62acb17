# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver over the Verilated DownbeatHost, where that is built (make driver)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest
from downbeat_toe.driver import Connection, Device, Item, Listener, State

from sim.lib import verilated
from sim.lib.cache import ROOT

DELAY = 5_000 << 16  # of the wire, 2^-16 ns
IPS = (0x0A000001, 0x0A000002)
MACS = (bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2]))
LIMIT = 60.0  # seconds for anything to happen


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    if not verilated.verilog("host", verilated.HOST).exists():
        pytest.skip("no Verilog of DownbeatHost: make driver")
    os.environ["DOWNBEAT_MODELS"] = str(verilated.host())
    os.environ["DOWNBEAT_DRIVER"] = str(ROOT / "build" / "driver")


class Wire:
    """Two devices in this process, and the wire between them."""

    def __init__(self, client: Device, server: Device) -> None:
        self.client, self.server = client, server
        self.news: list[Item] = []
        for device, ip, mac in zip((client, server), IPS, MACS, strict=True):
            device.set_addresses(ip, 0xFFFFFF00, 0, mac)

    def step(self) -> None:
        now = max(self.client.now, self.server.now) + DELAY
        for device in (self.client, self.server):
            device.advance(now)
        for source, sink in ((self.client, self.server), (self.server, self.client)):
            while frame := source.get_frame():
                sink.put_frame(frame[0], frame[1] + DELAY)
            self.news += source.poll()

    def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, "did not happen in time"
            self.step()

    def accepted(self, listener: Listener) -> Connection:
        found: list[Connection] = []

        def there() -> bool:
            if connection := listener.accept():
                found.append(connection)
            return bool(found)

        self.until(there)
        return found[0]

    def ended(self, connection: Connection) -> None:
        self.until(lambda: connection.info.state == State.CLOSED)

    def pair(self, port: int = 5001) -> tuple[Connection, Connection]:
        listener = self.server.listen(port)
        self.until(lambda: listener.ready)
        out = self.client.connect(IPS[1], port)
        accepted = self.accepted(listener)
        self.until(lambda: out.info.state == State.ESTABLISHED)
        return out, accepted


@pytest.fixture
def wire() -> Iterator[Wire]:
    with Device("sim:sim") as client, Device("sim:sim") as server:
        yield Wire(client, server)
