# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Two devices on one wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from downbeat_toe.device import Device, DeviceError, nanoseconds
from downbeat_toe.structures import Error

Value = TypeVar("Value")
DELAY = nanoseconds(5_000)
IPS = (0x0A000001, 0x0A000002)
MACS = (bytes([2, 0, 0, 0, 0, 1]), bytes([2, 0, 0, 0, 0, 2]))


@dataclass
class Pair:
    """Two devices and the wire between them."""

    client: Device
    server: Device
    cut: bool = False  # the wire carries nothing
    delay: int = DELAY  # one way
    drops: Callable[[int, bytes], bool] = lambda departure, frame: False  # whether the wire loses it
    carried: list[tuple[int, bytes]] = field(default_factory=list)  # every frame, with the time of its SFD
    listening: set[int] = field(default_factory=set)  # the server's ports

    def run(self, until: Callable[[], bool], limit_ns: float = 5e9) -> None:
        """Lets time pass until the condition holds; fails after `limit_ns` of it."""
        end = max(self.client.now, self.server.now) + nanoseconds(limit_ns)
        while not until():
            deadline = min(self.client.next_deadline, self.server.next_deadline)
            # A frame that leaves within the wire's delay arrives after it.
            now = max(deadline, min(self.client.now, self.server.now)) + self.delay
            assert now <= end, f"did not happen within {limit_ns} ns of virtual time"
            self.client.advance(now)
            self.server.advance(now)
            for source, sink in ((self.client, self.server), (self.server, self.client)):
                for frame, departure in source.frames():
                    self.carried.append((departure, frame))
                    if not self.cut and not self.drops(departure, frame):
                        sink.put_frame(frame, departure + self.delay)

    def connected(self, port: int = 5001) -> tuple[int, int]:
        """A connection's names at the client and at the server."""
        if port not in self.listening:
            self.server.listen(port)
            self.listening.add(port)
        out = self.client.connect(IPS[1], port)
        accepted: list[int] = []

        def there() -> bool:
            if not accepted and (name := would_block(lambda: self.server.accept(port))) is not None:
                accepted.append(name)
            return bool(accepted)

        self.run(there)
        return out, accepted[0]


def would_block(call: Callable[[], Value]) -> Value | None:
    """The call's result, or None if it would block."""
    try:
        return call()
    except DeviceError as error:
        if error.code is Error.WOULD_BLOCK:
            return None
        raise
