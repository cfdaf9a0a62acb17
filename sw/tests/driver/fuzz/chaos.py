# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Threads and children that call on the same few sockets at once, without regard to each other. No outcome is that of
the kernel beside it, for each run has another order: each must be one that Linux documents, and each call must end."""

from __future__ import annotations

import mmap
import os
import random
import socket
import threading
from collections.abc import Sequence

from sw.tests.driver.fuzz import calls
from sw.tests.driver.fuzz.calls import Outcome, call

PAGE = 4096
SLOTS, THREADS, COUNT = 6, 3, 120
SHORT = 0.02  # seconds
EVERYWHERE = {"EBADF", "EINVAL", "EINTR", "ENOTCONN", "EAGAIN"}
# Errors by connect(2), accept(2) and so on; ENOBUFS: the device has no flow left.
DOCUMENTED = {
    "socket": set(),
    "bind": {"EADDRINUSE"},
    "listen": {"EADDRINUSE", "ENOBUFS"},
    "connect": {
        "EADDRNOTAVAIL", "EALREADY", "ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EINPROGRESS", "EISCONN", "ENOBUFS",
        "EADDRINUSE", "EPIPE",
    },
    "accept": {"ECONNABORTED"},
    "send": {"ECONNRESET", "EPIPE", "ECONNREFUSED", "ECONNABORTED"},
    "receive": {"ECONNRESET", "ECONNREFUSED", "ECONNABORTED", "EPIPE"},  # EPIPE: a reset behind the peer's end
    "shutdown": set(),
    "close": set(),
    "dup": set(),
    "name": set(),
    "child": set(),
}  # fmt: skip


class Chaos:
    def __init__(self, addresses: Sequence[str], ports: Sequence[int], seed: str) -> None:
        self.address, self.peer = addresses
        self.ports, self.seed = ports, seed
        self.slots = [-1] * SLOTS
        self.wrong: set[str] = set()
        self.exchanging = threading.Lock()
        self.reported = mmap.mmap(-1, PAGE)  # by a child

    def run(self) -> list[str]:
        """Outcomes that Linux has not."""
        threads = [threading.Thread(target=self.spin, args=(f"{self.seed} {number}",)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for each in self.slots:
            call("close", each)
        return sorted(self.wrong)

    def spin(self, seed: str, count: int = COUNT, forks: bool = True) -> None:
        draw = random.Random(seed)
        names = [name for name in DOCUMENTED if name != "child" or forks]
        for _ in range(count):
            name = draw.choice(names)
            outcome = getattr(self, name)(draw)
            if isinstance(outcome, str) and outcome not in EVERYWHERE | DOCUMENTED[name]:
                self.wrong.add(f"{name}: {outcome}")

    def pick(self, draw: random.Random) -> int:
        return self.slots[draw.randrange(SLOTS)]

    def keep(self, draw: random.Random, outcome: Outcome) -> Outcome:
        if isinstance(outcome, int):
            self.exchange(draw, outcome)
        return outcome

    def exchange(self, draw: random.Random, descriptor: int) -> Outcome:
        """Closes what was in the slot. Nobody closes a number twice: it may be another file's."""
        slot = draw.randrange(SLOTS)
        with self.exchanging:
            old, self.slots[slot] = self.slots[slot], descriptor
        return call("close", old) if old >= 0 else 0

    def socket(self, draw: random.Random) -> Outcome:
        outcome = call("socket", socket.AF_INET, socket.SOCK_STREAM | draw.choice([0, socket.SOCK_NONBLOCK]), 0)
        if isinstance(outcome, int):
            for name in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                calls.set_option(outcome, socket.SOL_SOCKET, name, calls.seconds(SHORT))
            calls.set_option(outcome, socket.SOL_SOCKET, socket.SO_REUSEADDR, b"\1\0\0\0")
        return self.keep(draw, outcome)

    def bind(self, draw: random.Random) -> Outcome:
        name = calls.encoded(socket.AF_INET, self.address, draw.choice(self.ports))
        return call("bind", self.pick(draw), name, len(name))

    def listen(self, draw: random.Random) -> Outcome:
        return call("listen", self.pick(draw), draw.choice([0, 1, 4]))

    def connect(self, draw: random.Random) -> Outcome:
        name = calls.encoded(socket.AF_INET, self.peer, draw.choice(self.ports))
        return call("connect", self.pick(draw), name, len(name))

    def accept(self, draw: random.Random) -> Outcome:
        return self.keep(draw, calls.accepted(self.pick(draw), 0)[0])

    def send(self, draw: random.Random) -> Outcome:
        how = draw.choice(calls.SENDS[:4])  # the others open files
        return calls.sent(how, self.pick(draw), bytes(draw.choice([1, 5000])), socket.MSG_NOSIGNAL)

    def receive(self, draw: random.Random) -> Outcome:
        return calls.received(draw.choice(calls.RECEIVES), self.pick(draw), 4000, 0)[0]

    def shutdown(self, draw: random.Random) -> Outcome:
        return call("shutdown", self.pick(draw), draw.randrange(3))

    def close(self, draw: random.Random) -> Outcome:
        return self.exchange(draw, -1)

    def dup(self, draw: random.Random) -> Outcome:
        return self.keep(draw, call("dup", self.pick(draw)))

    def name(self, draw: random.Random) -> Outcome:
        found = calls.named(draw.choice(["getsockname", "getpeername"]), self.pick(draw))
        return found if isinstance(found, str) else 0

    def child(self, draw: random.Random) -> Outcome:
        seed = str(draw.random())
        number = os.fork()
        if number == 0:
            self.exchanging = threading.Lock()  # the other threads are not here
            self.wrong.clear()
            try:
                self.spin(seed, 10, forks=False)
            finally:
                self.reported[:PAGE] = "; ".join(self.wrong).encode().ljust(PAGE)[:PAGE]
                os._exit(1 if self.wrong else 0)
        status = os.waitpid(number, 0)[1]
        return f"{self.reported[:PAGE].decode().strip()}, status {status}" if status else 0
