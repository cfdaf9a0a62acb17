# SPDX-License-Identifier: BSD-2-Clause-Patent
"""As the engine asks: connections of every mix of policies at once over bad paths, each event replayed through the golden models.

They open, send, pause, change their policies, close or are aborted in the middle.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from dataclasses import dataclass

from downbeat.device import NEVER, Device, DeviceError, Error, State, nanoseconds
from downbeat.policies import Policy

from sim.policies.judge import Choice, Judge, Policies
from sim.policies.path import MILLISECOND, SHORTEST_NS, Path

IP, MAC = 0x0A000001, bytes([2, 0, 0, 0, 0, 1])
PEER_IP, PEER_MAC = 0x0A000002, bytes([2, 0, 0, 0, 0, 2])
CONNECTIONS = 12  # at once
SEGMENT = 1460
STEP_NS = 100_000
TURN_NS = 2 * MILLISECOND
FIRST_PORT = 1024


@dataclass
class Connection:
    name: int
    choice: Choice
    left: int  # bytes to write
    pause_until: int = 0  # ns
    reference: tuple[int, int] | None = None  # flow and generation, once it is established
    over: bool = False


@dataclass
class Crowd:
    """The core, its application, its peers and the paths to them."""

    library: ctypes.CDLL
    policies: Policies
    seed: int

    def __post_init__(self) -> None:
        self.draw = random.Random(f"policies {self.seed}")
        self.path = Path(self.draw)
        self.judge = Judge(self.library, self.policies)
        self.connections: list[Connection] = []
        self.port = FIRST_PORT
        self.turn = 0  # ns

    def run(self, wanted: int, progress: Callable[[int], None]) -> None:
        """Until each policy has seen as many events as wanted; `progress` hears how many the one with the fewest has."""
        with Device(self.library, MAC, IP, secret=self.seed, link_rate=10**9) as device:
            device.add_neighbour(PEER_IP, PEER_MAC)
            events = device.record_events()
            while (fewest := self.judge.fewest()) < wanted:
                progress(fewest)
                for _ in range(200):
                    self._step(device)
                self.judge.hears(events)
                events.clear()

    # ---- the simulation

    def _step(self, device: Device) -> None:
        now = device.now >> 16
        due = self.path.arrivals[0][0] if self.path.arrivals else NEVER
        # What leaves meanwhile comes back later than that.
        until = min(max(due, now + STEP_NS), now + SHORTEST_NS)
        for at, frame in self.path.due(until):
            device.put_frame(frame, nanoseconds(max(at, now)))
        device.advance(nanoseconds(until))
        for frame, departure in device.frames():
            self.path.enters(frame, departure >> 16)
        self.path.timers(until)
        if until >= self.turn:
            self.turn = until + TURN_NS
            self._turn(device, until)

    def _turn(self, device: Device, now: int) -> None:
        """The application looks at what it has."""
        for connection in self.connections:
            self._application(device, connection, now)
        self.connections = [connection for connection in self.connections if not connection.over]
        if len(self.connections) < CONNECTIONS:
            self._opens(device)

    def _application(self, device: Device, connection: Connection, now: int) -> None:
        if now < connection.pause_until:
            return
        info = device.info(connection.name)
        if info.state == State.ESTABLISHED and connection.reference is None:
            connection.reference = (info.flow, info.generation)
            self.judge.opened(connection.reference, connection.choice)
        if info.error:
            self._end(device, connection, "close")
            return
        if connection.reference is None:
            return
        if connection.left > 0:
            connection.left -= self._sends(device, connection)
            if self.draw.random() < 0.002:
                choice = self._choice()
                device.set_policies(connection.name, **choice.parameters)
                self.judge.changed(connection.reference, choice)
            elif self.draw.random() < 0.0005:
                self._end(device, connection, "abort")
            elif self.draw.random() < 0.002:
                connection.pause_until = now + self.draw.randrange(1, 4000) * MILLISECOND
        elif info.unacknowledged == 0 or self.draw.random() < 0.05:
            # One that closes holds its flow for TIME-WAIT.
            self._end(device, connection, "close" if self.draw.random() < 0.1 else "abort")

    def _sends(self, device: Device, connection: Connection) -> int:
        try:
            return device.send(
                connection.name, bytes(min(connection.left, self.draw.choice([100, SEGMENT, 64 * SEGMENT])))
            )
        except DeviceError as error:
            if error.code is not Error.WOULD_BLOCK:
                raise
            return 0

    def _end(self, device: Device, connection: Connection, how: str) -> None:
        (device.close if how == "close" else device.abort)(connection.name)
        connection.over = True

    def _choice(self) -> Choice:
        """Those that have seen least come first."""
        startup, steady = (
            min(
                names.values(),
                key=lambda policy: self.judge.tallies[policy.family, policy.name].events * self.draw.random(),
            )
            for names in (self.policies["startup"], self.policies["steady"])
        )
        return Choice(startup, steady, (argument(startup, self.draw), argument(steady, self.draw)))

    def _opens(self, device: Device) -> None:
        self.port = self.port + 1 if self.port < 65535 else FIRST_PORT
        choice = self._choice()
        parameters = choice.parameters | {
            "initial_window": self.draw.choice([1, 2, 10, 40, 255]),
            "ssthresh": self.draw.choice([0, 3000, 30_000, 200_000]),
            "spacing": self.draw.choice([0, 0, 80 << 32]),
        }
        name = device.connect(PEER_IP, 5001, self.port, **parameters)
        self.connections.append(Connection(name, choice, self.draw.choice([1, 20, 300, 2000]) * SEGMENT))


def argument(policy: Policy, draw: random.Random) -> int:
    """A legal one: none, usual values, extremes, anything between; times that a test can wait for."""
    for _ in range(1000):
        word = 0
        if policy.needed or draw.random() < 0.8:
            for name in policy.fields:
                word |= _value(policy, name, draw) << policy.fields[name].offset
        if not policy.problem(word):
            return word
    raise ValueError(f"{policy} takes none of a thousand drawn arguments")


def _value(policy: Policy, name: str, draw: random.Random) -> int:
    field = policy.fields[name]
    most = min(field.most, 5 * MILLISECOND << field.fraction) if field.unit == "ns" else field.most
    drawn = draw.getrandbits(draw.randint(1, field.width))
    return max(field.least, min(draw.choice([field.usual, field.least, most, drawn, drawn]), most))
