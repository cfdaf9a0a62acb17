# SPDX-License-Identifier: BSD-2-Clause-Patent
"""As the engine asks: connections of every mix of policies at once over bad paths, each event replayed through the
golden models.

They open, send, pause, change their policies, close or are aborted in the middle; some of them at the moment at which a
long calculation begins. Some open so that their sequence numbers are about to wrap.
"""

from __future__ import annotations

import ctypes
import random
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

from downbeat_toe.device import Device, DeviceError, nanoseconds
from downbeat_toe.policies import Policy
from downbeat_toe.structures import NEVER, Error, Event, State

from sim.bench.policies.judge import Choice, Judge, Policies
from sim.bench.policies.path import MILLISECOND, SHORTEST_NS, Path
from sim.golden.flow.keyed_numbers import Numbers

IP, MAC = 0x0A000001, bytes([2, 0, 0, 0, 0, 1])
PEER_IP, PEER_MAC = 0x0A000002, bytes([2, 0, 0, 0, 0, 2])
CONNECTIONS = 12  # at once
SEGMENT = 1460
STEP_NS = 100_000
TURN_NS = 2 * MILLISECOND
REFUSED_NS = 100 * MILLISECOND  # after which another is opened
PEER_PORT = 5001
PEER_PORTS = range(PEER_PORT, PEER_PORT + 10)
FIRST_PORT = 1024
SPECIAL_PORTS = range(49152, 65536)  # ports of connections whose numbers wrap
REACH = 1_000_000  # bytes that such a one sends at most before they do
CALCULATION_NS, INSTANT_NS = 5_000, 100  # how long after a frame a calculation may begin; how soon it is seen


@dataclass
class Connection:
    name: int
    port: int
    choice: Choice
    left: int  # bytes to write
    interrupted: str = ""  # the call as a calculation begins: close, abort, change
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
        self.path = Path(self.draw, self._befell)
        self.judge = Judge(self.library, self.policies)
        self.connections: list[Connection] = []
        self.events: list[Event] = []
        self.port = FIRST_PORT
        self.turn = 0  # ns
        self.opens_from = 0  # ns
        self.beginnings = list(beginnings(self.seed))

    def run(self, wanted: int, progress: Callable[[int], None]) -> None:
        """Until each policy has seen as many events as wanted; `progress` hears how many the one with the fewest
        has."""
        with Device(self.library, MAC, IP, secret=self.seed, link_rate=10**9) as device:
            device.add_neighbour(PEER_IP, PEER_MAC)
            self.events = device.record_events()
            while (fewest := self.judge.fewest()) < wanted:
                progress(fewest)
                for _ in range(200):
                    self._step(device)
                self._judges()

    def _judges(self) -> None:
        self.judge.hears(self.events)
        self.events.clear()

    def _befell(self, ports: bytes, situation: str) -> None:
        port = int.from_bytes(ports[:2], "big")
        for connection in self.connections:
            if connection.port == port and connection.reference is not None:
                self.judge.befell(connection.reference, situation)

    # ---- the simulation

    def _step(self, device: Device) -> None:
        now = device.now >> 16
        due = self.path.next_arrival() or NEVER
        # Segments that leave meanwhile come back later than that.
        until = min(max(due, now + STEP_NS), now + SHORTEST_NS)
        arrivals = [(max(at, now), frame) for at, frame in self.path.due(until)]
        for at, frame in arrivals:
            device.put_frame(frame, nanoseconds(at))
        for at, frame in arrivals:
            self._interrupts(device, at, int.from_bytes(frame[36:38], "big"))
        device.advance(nanoseconds(until))
        for frame, departure in device.frames():
            self.path.enters(frame, departure >> 16)
        if until >= self.turn:
            self.turn = until + TURN_NS
            self._turn(device, until)

    def _interrupts(self, device: Device, at: int, port: int) -> None:
        """Looks closely whether the frame that arrives then makes a policy ask, where that is to be interrupted."""
        for connection in self.connections:
            if connection.port != port or not connection.interrupted or connection.reference is None:
                continue
            self._judges()
            for now in range(at, at + CALCULATION_NS, INSTANT_NS):
                device.advance(nanoseconds(now))
                if any(
                    event.requested and (event.flow, event.generation) == connection.reference for event in self.events
                ):
                    self._interrupt(device, connection)
                    break
                self._judges()

    def _interrupt(self, device: Device, connection: Connection) -> None:
        action, connection.interrupted = connection.interrupted, ""
        if action == "change":
            self._changes(device, connection)
        else:
            self._end(device, connection, action)

    def _turn(self, device: Device, now: int) -> None:
        """The application looks at what it has."""
        for connection in self.connections:
            self._application(device, connection, now)
        self.connections = [connection for connection in self.connections if not connection.over]
        if len(self.connections) < CONNECTIONS and now >= self.opens_from:
            self._opens(device)

    def _application(self, device: Device, connection: Connection, now: int) -> None:
        if connection.over or now < connection.pause_until:
            return
        info = device.info(connection.name)
        if info.state == State.ESTABLISHED and connection.reference is None:
            connection.reference = (info.flow, info.generation)
            self.judge.opened(connection.reference, connection.choice)
        if info.error:
            if connection.reference is None:  # as a rule, all flows are in TIME-WAIT
                self.opens_from = now + REFUSED_NS
            self._end(device, connection, "close")
            return
        if connection.reference is None:
            return
        if connection.left > 0:
            connection.left -= self._sends(device, connection)
            if self.draw.random() < 0.002:
                self._changes(device, connection)
            elif self.draw.random() < 0.0005:
                self._end(device, connection, "abort")
            elif self.draw.random() < 0.01:
                connection.pause_until = now + self.draw.randrange(1, 4000) * MILLISECOND
            elif self._lacks(connection.choice, "restart from idle") and self.draw.random() < 0.1:
                connection.pause_until = now + 4000 * MILLISECOND
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

    def _changes(self, device: Device, connection: Connection) -> None:
        choice = self._choice()
        device.set_policies(connection.name, **choice.parameters)
        assert connection.reference is not None
        self.judge.changed(connection.reference, choice)

    def _end(self, device: Device, connection: Connection, how: str) -> None:
        (device.close if how == "close" else device.abort)(connection.name)
        connection.over = True

    def _choice(self, situation: str = "") -> Choice:
        """Those that have seen least come first: of events, or of a situation."""

        def seen(policy: Policy) -> float:
            key = policy.family, policy.name
            count = self.judge.situations.counts[key][situation] if situation else self.judge.tallies[key].events
            return (count + 1) * self.draw.random()

        startup, steady = (min(self.policies[family].values(), key=seen) for family in ("startup", "steady"))
        return Choice(startup, steady, (argument(startup, self.draw), argument(steady, self.draw)))

    def _lacks(self, choice: Choice, situation: str) -> bool:
        counts = self.judge.situations.counts
        return any(not counts[policy.family, policy.name][situation] for policy in (choice.startup, choice.steady))

    def _opens(self, device: Device) -> None:
        wraps = self._wrapping_ports(device) if self.draw.random() < 0.3 else None
        choice = self._choice("sequence wrap" if wraps else "")
        parameters = choice.parameters | {
            "initial_window": self.draw.choice([1, 2, 10, 40, 255]),
            "ssthresh": self.draw.choice([0, 3000, 30_000, 200_000]),
            "spacing": self.draw.choice([0, 0, 80 << 32]),
        }
        left = self.draw.choice([1, 20, 300, 2000]) * SEGMENT
        if wraps:
            port, peer_port = wraps
            left = 2 * REACH
        else:
            port = self.port = self.port + 1 if self.port + 1 < SPECIAL_PORTS.start else FIRST_PORT
            peer_port = PEER_PORT
        interrupted = self.draw.choice(["", "", "", "change", "close", "abort"])
        name = device.connect(PEER_IP, peer_port, port, **parameters)
        self.connections.append(Connection(name, port, choice, left, interrupted))

    def _wrapping_ports(self, device: Device) -> tuple[int, int] | None:
        """Those whose numbers go through zero first, if any are about to; each but once, and none of a port in use."""
        first = (2**32 - (device.now >> 16 + 12) - REACH) % 2**32
        index = bisect_left(self.beginnings, (first + REACH, 0, 0)) - 1
        if index < 0 or self.beginnings[index][0] < first:
            return None
        _, port, peer_port = self.beginnings.pop(index)
        return None if any(connection.port == port for connection in self.connections) else (port, peer_port)


@cache
def beginnings(secret: int) -> tuple[tuple[int, int, int], ...]:
    """The initial numbers of each special port and port of the peer at time 0, in their order, and the two."""
    numbers = Numbers(secret, IP)
    pairs = product(SPECIAL_PORTS, PEER_PORTS)
    return tuple(sorted((numbers.initial_sequence((PEER_IP, there, here), 0), here, there) for here, there in pairs))


def argument(policy: Policy, draw: random.Random) -> int:
    """A legal one: none, defaults, extremes, anything between; times that a test can wait for."""
    for _ in range(1000):
        argument_bits = 0
        if policy.needed or draw.random() < 0.8:
            for name in policy.fields:
                argument_bits |= _value(policy, name, draw) << policy.fields[name].offset
        if not policy.problem(argument_bits):
            return argument_bits
    raise ValueError(f"{policy} takes none of a thousand drawn arguments")


def _value(policy: Policy, name: str, draw: random.Random) -> int:
    field = policy.fields[name]
    limit = min(field.max, 5 * MILLISECOND << field.fraction) if field.unit == "ns" else field.max
    drawn = draw.getrandbits(draw.randint(1, field.width))
    return max(field.min, min(draw.choice([field.default, field.min, limit, drawn, drawn]), limit))
