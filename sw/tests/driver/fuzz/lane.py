# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A lane: random calls on sockets of its own, one behind the other. After each the events of all its sockets come to
rest. With the kernel's records of the same lane it waits before each comparison until its own are equal, as long as a
network may need; at the first that stays otherwise it ends.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from sw.tests.driver.fuzz import calls
from sw.tests.driver.fuzz.calls import Outcome, call

Record = list[Any]  # the call; its outcome; events of all sockets behind it

LIMIT = 6.0  # seconds for the core to get where the kernel is
REST = 0.0015  # seconds in which the kernel's loopback network changes nothing
SHORT, LONG = 0.03, 10.0  # seconds: the time-outs of calls
SOCKETS, CLIENTS, BACKLOG = 5, 2, 16
BUDGET = 12_000  # bytes that a socket sends: no queue is ever full
TRANSFER = 60_000


def same(core: Record, kernel: Record) -> bool:
    """Or as docs/reference/driver.md says: of an open that failed only SO_ERROR has the reason."""
    return core in (kernel, json.loads(json.dumps(kernel).replace("ECONNREFUSED", "ECONNRESET")))


Action = Callable[["Lane"], object]


class Lane:
    def __init__(self, addresses: Sequence[str], ports: Sequence[int], seed: str) -> None:
        """`addresses`: to bind to, and to connect to; over a core that reaches itself by another they differ."""
        self.address, self.peer = addresses
        self.ports, self.seed = ports, seed
        self.random = random.Random(seed)
        self.slots: list[int] = [-1] * SOCKETS
        self.sent, self.clients = [0] * SOCKETS, [False] * SOCKETS
        self.labels = {port: f"port {index}" for index, port in enumerate(ports)} | {0: "none"}
        self.epoll = select.epoll()
        self.said: tuple[object, ...] = ()
        self.wanted: Record | None = None

    def run(self, count: int, wanted: Sequence[Record] | None, actions: dict[str, tuple[int, Action]]) -> list[Record]:
        records = []
        for index in range(count if wanted is None else len(wanted)):
            self.wanted = wanted[index] if wanted is not None else None
            weights = [weight for weight, _ in actions.values()]
            name = self.random.choices(list(actions), weights)[0]
            self.said = ()
            outcome = actions[name][1](self)
            record = json.loads(json.dumps([f"{name} {self.said}", outcome, self.at_rest(self._states)]))
            records.append(record)
            if self.wanted is not None and not same(record, self.wanted):
                break
        return records

    def _states(self) -> list[list[int]]:
        return [calls.polled(each) if each >= 0 else [] for each in self.slots]

    def at_rest(self, look: Callable[[], Any]) -> Any:
        """Sees by `look` until that stays; over the core once it is as over the kernel, or late."""
        seen = look()
        if self.wanted is None:
            for _ in range(20):
                time.sleep(REST)
                before, seen = seen, look()
                if before == seen:
                    break
            return seen
        end = time.monotonic() + LIMIT
        while seen != self.wanted[2] and time.monotonic() < end:
            time.sleep(0.001)
            seen = look()
        return seen

    def expects(self) -> Any:
        """The kernel's outcome of this call; nothing over the kernel."""
        return self.wanted[1] if self.wanted is not None else None

    # ---- draws

    def say(self, *values: object) -> None:
        self.said = values

    def pick(self) -> int:
        """A slot, mostly one with a socket."""
        used = [slot for slot, each in enumerate(self.slots) if each >= 0]
        return self.random.choice(used) if used and self.random.random() < 0.97 else self.random.randrange(SOCKETS)

    def pick_connected(self) -> int:
        """Mostly one that is connected."""
        ends = [slot for slot, each in enumerate(self.slots) if each >= 0 and calls.polled(each)[2]]
        return self.random.choice(ends) if ends and self.random.random() < 0.8 else self.pick()

    def listening(self) -> list[int]:
        return [slot for slot, each in enumerate(self.slots) if each >= 0 and calls.polled(each)[1] < 0]

    def place(self) -> int:
        """A slot for another socket; the one that was there is closed."""
        free = [slot for slot, each in enumerate(self.slots) if each < 0]
        slot = free[0] if free else self.random.randrange(SOCKETS)
        self.drop(slot)
        return slot

    def drop(self, slot: int) -> Outcome:
        descriptor, self.slots[slot] = self.slots[slot], -1
        self.clients[slot] = False
        self.unwatch(descriptor)
        return call("close", descriptor)

    def unwatch(self, descriptor: int) -> None:
        """Its number may be that of another file: threads of other lanes take numbers too."""
        with contextlib.suppress(OSError, ValueError):
            self.epoll.unregister(descriptor)

    def label(self, name: Outcome | tuple[str, int]) -> object:
        """A name without what differs between kernel and core: the address, and ports that are drawn."""
        if not isinstance(name, tuple):
            return name
        port = name[1]
        label = self.labels.setdefault(port, f"drawn {len(self.labels)}")
        return [self.place_of(name)[0], label]

    def place_of(self, name: tuple[str, int]) -> tuple[str, int]:
        return name[0].replace(self.address, "address").replace(self.peer, "address"), name[1]

    def family(self, slot: int) -> int:
        found = calls.get_option(self.slots[slot], socket.SOL_SOCKET, socket.SO_DOMAIN)
        return int.from_bytes(bytes.fromhex(str(found[1])), "little") if len(found) == 2 else socket.AF_INET

    def dress(self, descriptor: int) -> None:
        """No call waits for ever, and nothing waits for the clock."""
        for level, name, value in (
            (socket.SOL_SOCKET, socket.SO_RCVTIMEO, calls.seconds(SHORT)),
            (socket.SOL_SOCKET, socket.SO_SNDTIMEO, calls.seconds(LONG)),
            (socket.SOL_SOCKET, socket.SO_REUSEADDR, b"\1\0\0\0"),
            (socket.IPPROTO_TCP, socket.TCP_NODELAY, b"\1\0\0\0"),
        ):
            calls.set_option(descriptor, level, name, value)

    def data(self, slot: int, size: int) -> bytes:
        size = max(min(size, BUDGET - self.sent[slot]), 0)
        return self.random.randbytes(size)

    def pairs(self) -> list[tuple[int, int]]:
        """Slots whose sockets are the ends of a connection with nothing to read."""
        names = {}
        for slot, each in enumerate(self.slots):
            if each >= 0 and calls.polled(each) == [select.POLLOUT, 0, 1]:
                ends = calls.named("getsockname", each), calls.named("getpeername", each)
                names[slot] = tuple(self.place_of(end) for end in ends if isinstance(end, tuple))
        return [
            (one, other)
            for one, other in itertools.permutations(names, 2)
            if names[one] == names[other][::-1] and len(names[one]) == 2
        ]
