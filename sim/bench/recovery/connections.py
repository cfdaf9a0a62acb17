# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Short connections between two cores with 16 flows each: open, 100 bytes each way, close; over 1 Gb/s, with a round
trip of 20 us."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from enum import Enum
from typing import Any

from downbeat_toe.device import Device
from downbeat_toe.structures import Error, State

from sim.bench.scale.wire import IPS, Failed, Wire, would_block

LINK_RATE = 10**9  # b/s
DELAY_NS = 10_000  # one way
STEP_NS = 1_000  # an application looks at its connections so often
BYTES = 100
PORT = 80
ALTOGETHER = 16  # at once: a connection for each flow
QUICK, FULL = 2_000, 100_000  # connections: more than the TIME-WAIT table has places, and than there are ports
STALLED = 20_000  # steps without an end
SECOND = 65536e9  # units of time


class Step(Enum):
    OPENS, WAITS, FINISHES = range(3)


@dataclass
class End:
    """One end of a connection."""

    device: Device
    name: int
    step: Step
    received: int = 0

    @property
    def complete(self) -> bool:
        """The application has all bytes of the other end."""
        while (data := would_block(lambda: self.device.receive(self.name))) is not None and data:
            if any(data):
                raise Failed("other bytes than were sent")
            self.received += len(data)
        return self.received == BYTES

    def send(self, step: Step) -> None:
        if self.device.send(self.name, bytes(BYTES)) != BYTES:
            raise Failed("the device takes less than a request")
        self.step = step


class Client:
    """Opens one connection after the other, and finishes each first; it closes when the server has finished too."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.opened = 0
        self.finished = 0
        self._live: list[End] = []

    def step(self, total: int, at_once: int) -> None:
        while self.opened < total and len(self._live) < at_once:
            name = self.device.connect(IPS[1], PORT, no_delay=1)
            self._live.append(End(self.device, name, Step.OPENS))
            self.opened += 1
        for end in [*self._live]:
            info = self.device.info(end.name)
            if info.error:
                raise Failed(f"connection {self.finished} of {total}: {Error(info.error).name}")
            if end.step is Step.OPENS and info.state == State.ESTABLISHED:
                end.send(Step.WAITS)
            elif end.step is Step.WAITS and end.complete:
                self.device.shutdown(end.name)
                end.step = Step.FINISHES
            elif end.step is Step.FINISHES and info.peer_finished:
                self.device.close(end.name)
                self._live.remove(end)
                self.finished += 1


class Server:
    """Sends as many bytes back, and closes behind the client."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._live: list[End] = []
        device.listen(PORT, no_delay=1)

    def step(self) -> None:
        while (name := would_block(lambda: self.device.accept(PORT))) is not None:
            self._live.append(End(self.device, name, Step.WAITS))
        for end in [*self._live]:
            if end.step is Step.WAITS and end.complete:
                end.send(Step.FINISHES)
            elif end.step is Step.FINISHES and self.device.info(end.name).peer_finished:
                self.device.close(end.name)
                self._live.remove(end)


def rate(library: ctypes.CDLL, seed: int, total: int, at_once: int) -> float:
    """Connections a simulated second; none is refused, reset or given up."""
    wire = Wire(library, seed, DELAY_NS, link_rate=LINK_RATE)
    client, server = Client(wire.client), Server(wire.server)
    start, stalled, before = wire.client.now, 0, 0
    while client.finished < total:
        client.step(total, at_once)
        server.step()
        wire.step(STEP_NS)
        stalled = 0 if client.finished > before else stalled + 1
        before = client.finished
        if stalled == STALLED:
            raise Failed(f"after {before} of {total} connections nothing more ends")
    return total / ((wire.client.now - start) / SECOND)


def measure(library: ctypes.CDLL, seed: int) -> dict[str, Any]:
    """Connections a simulated second: one after the other, and as many at once as there are flows."""
    total = FULL if os.environ.get("FULL") else QUICK
    single, together = (round(rate(library, seed, total, at_once)) for at_once in (1, ALTOGETHER))
    return {"connections": total, "connections_per_second": single, "connections_per_second_of_16": together}
