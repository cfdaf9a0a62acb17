# SPDX-License-Identifier: BSD-2-Clause-Patent
"""As many connections as there are flows: all alive at once, data both ways on each, closed, and every flow given
back."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from downbeat_toe.device import Device, nanoseconds
from downbeat_toe.structures import Error, State

from sim.bench.scale.wire import IPS, SILENT, Failed, Wire, would_block

FLOWS = 65_536
PORTS = 4  # ports of the server; the client's own ports tell a quarter of the connections each
FIRST_PORT = 1024
DELAY_NS = 20_000
STEP_NS = 20_000
HANDSHAKES = 4096  # at once: far from half the flows, where SYN cookies begin
BUSY = 512  # connections that send at once
QUIET_NS = 50_000  # longer than anything takes but a timeout
MAX_STEPS = 3_000_000
TIME_LIMIT = 8  # steps: to look at hundreds of connections takes longer than they do


@dataclass
class Crowd:
    wire: Wire
    out: list[int] = field(default_factory=list)  # names at the client, by connection
    accepted: dict[int, int] = field(default_factory=dict)  # at the server, by connection

    def until(self, condition: Callable[[], bool], what: str, steps: int = 1) -> None:
        """Looks every so many steps."""
        for _ in range(0, MAX_STEPS, steps):
            if condition():
                return
            for _ in range(steps):
                self.wire.step(STEP_NS)
        raise Failed(f"{what}: does not happen")

    def open(self) -> None:
        client, server = self.wire.devices
        for port in range(PORTS):
            server.listen(80 + port, no_delay=1)

        def more() -> bool:
            for port in range(PORTS):
                while (name := would_block(lambda: server.accept(80 + port))) is not None:  # noqa: B023
                    self.accepted[self._number(server.info(name).remote_port, port)] = name
            while len(self.out) < FLOWS and len(self.out) - len(self.accepted) < HANDSHAKES:
                port, local = divmod(len(self.out), FLOWS // PORTS)
                self.out.append(client.connect(IPS[1], 80 + port, FIRST_PORT + local, no_delay=1))
            return len(self.accepted) == FLOWS

        self.until(more, "all connections established")
        self.until(lambda: client.info(self.out[-1]).state == State.ESTABLISHED, "the last ACK")
        for device, names in ((client, self.out), (server, self.accepted.values())):
            flows = self._flows(device, names)
            if flows != set(range(FLOWS)):
                raise Failed(f"{FLOWS} connections have {len(flows)} flows")

    @staticmethod
    def _number(local: int, port: int) -> int:
        return port * (FLOWS // PORTS) + local - FIRST_PORT

    @staticmethod
    def _flows(device: Device, names: Iterable[int]) -> set[int]:
        flows = set()
        for name in names:
            info = device.info(name)
            if info.error or info.state != State.ESTABLISHED:
                raise Failed(f"flow {info.flow} is not established but {State(info.state).name}")
            flows.add(info.flow)
        return flows

    @staticmethod
    def length(number: int, from_client: bool) -> int:
        """The bytes that a connection sends: each another number of bytes than its neighbours."""
        return 1 + (number * 7 if from_client else number * 13) % 3000

    def transfer(self) -> None:
        """Request and answer on each connection, some hundred at once."""
        client, server = self.wire.devices
        waiting = list(range(FLOWS))[::-1]
        requesting: set[int] = set()
        responding: set[int] = set()

        def more() -> bool:
            while waiting and len(requesting) + len(responding) < BUSY:
                number = waiting.pop()
                self._send(client, self.out[number], self.length(number, True))
                requesting.add(number)
            for number in [*requesting]:
                if self._received(server, self.accepted[number], self.length(number, True)):
                    self._send(server, self.accepted[number], self.length(number, False))
                    requesting.remove(number)
                    responding.add(number)
            for number in [*responding]:
                if self._received(client, self.out[number], self.length(number, False)):
                    responding.remove(number)
            return not (waiting or requesting or responding)

        self.until(more, "request and answer on all connections", steps=TIME_LIMIT)

    @staticmethod
    def _send(device: Device, name: int, length: int) -> None:
        if device.send(name, bytes(length)) != length:
            raise Failed("the device takes less than a request")

    @staticmethod
    def _received(device: Device, name: int, length: int) -> bool:
        received = device.info(name).received
        if received > length:
            raise Failed(f"{received} bytes where {length} were sent")
        if received == length:
            if device.receive(name) != bytes(length):
                raise Failed("other bytes than were received")
            return True
        return False

    def close(self) -> None:
        """Both ends of each connection; of half of them the server first."""
        client, server = self.wire.devices
        for first in range(0, FLOWS, BUSY):
            for number in range(first, first + BUSY):
                ends = [(client, self.out[number]), (server, self.accepted[number])]
                for device, name in ends if number % 2 else ends[::-1]:
                    device.close(name)
            self.wire.step(STEP_NS)
        self.until(self.wire.at_rest, "no timer armed")

    def check_free(self) -> None:
        """Each flow can be opened, once and no more."""
        for device in self.wire.devices:
            names = []
            for number in range(FLOWS + 1):
                port, local = divmod(number, FLOWS // PORTS)
                names.append(device.connect(SILENT[0], 80 + port, FIRST_PORT + local))
                if number % BUSY == 0:
                    self._quiet()
            self._quiet()
            infos = [device.info(name) for name in names]
            flows = {info.flow for info in infos if not info.error}
            refused = sum(info.error == Error.OUT_OF_RESOURCES for info in infos)
            if flows != set(range(FLOWS)) or refused != 1:
                raise Failed(f"{len(flows)} of {FLOWS} flows could be opened again, {refused} refused")
            for number, name in enumerate(names):
                device.abort(name)
                if number % BUSY == 0:
                    self._quiet()
            self.until(self.wire.at_rest, "rest after all were aborted")

    def _quiet(self) -> None:
        """Until nothing but timers is left."""
        self.until(
            lambda: min(device.next_deadline - device.now for device in self.wire.devices) > nanoseconds(QUIET_NS),
            "rest",
        )


def crowd(library: ctypes.CDLL, seed: int) -> dict[str, Any]:
    """All of it; figures for the report."""
    wire = Wire(library, seed, DELAY_NS)
    crowd = Crowd(wire)
    seconds = {}
    for part in (crowd.open, crowd.transfer, crowd.close, crowd.check_free):
        start = time.monotonic()
        part()
        seconds[part.__name__] = round(time.monotonic() - start, 1)
    clocks = [device.counters().clocks for device in wire.devices]
    return {
        "connections": FLOWS,
        "bytes": sum(Crowd.length(number, way) for number in range(FLOWS) for way in (False, True)),
        "clocks": clocks,
        "wall_clock": {"seconds": seconds},
    }
