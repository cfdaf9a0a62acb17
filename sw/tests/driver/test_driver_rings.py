# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The rings and connections of libdownbeat on `uio:` against a model of the port, over drawn calls, notifications and
heads: each command once and in turn, each byte once, no more than there is space for."""

from __future__ import annotations

import os
import random
import struct
from collections import Counter
from dataclasses import dataclass, field

import pytest
from downbeat_toe.driver import Device, DriverError, Error, State
from downbeat_toe.driver.binding import Connection, Listener

from sw.tests.driver.mapped_core import (
    COMMANDS,
    DOORBELLS,
    ESTABLISHED,
    FLOWS,
    PAYLOAD,
    PEER,
    RING,
    Core,
)

SEED = int(os.environ.get("SEED") or 1)
ACTS = 400_000 if os.environ.get("SOAK") else 25_000
ENTRIES, NOTIFIED, RELEASED = 256, 1024, 64
OPEN, LISTEN, UNLISTEN, SHUTDOWN, CLOSE, ABORT = range(1, 7)
STATUS, RESPONSE, PASSIVE, FINISHED = 1, 2, 1, 2
REFUSED, RESET = 2, 3  # reasons of a close
BACKLOG = 2


@dataclass
class End:
    """One connection as its program and the core see it; counts are of bytes, from its first."""

    remote_port: int
    made: Connection | None  # None: accepted by the core, not yet by the program
    passive: bool = False
    flow: int = -1
    generation: int = 0
    iss: int = 0
    peer_iss: int = 0
    dropped: bool = False  # its program let go of it before it had a flow
    heard: bool = False  # a notification of it was polled
    shut: bool = False
    finished: bool = False  # the peer's FIN has come
    reason: int = -1  # its close has this one
    sent: int = 0
    written: int = 0  # by the last doorbell
    acknowledged: int = 0
    received: int = 0
    consumed: int = 0
    bytes_in: bytearray = field(default_factory=bytearray)  # not yet given to the program
    # By what was polled:
    seen_acknowledged: int = 0
    seen_received: int = 0
    seen_finished: bool = False
    seen_reason: int = -1


class Port:
    """The model: what the core holds, and the program's calls."""

    def __init__(self, core: Core, device: Device, seed: int) -> None:
        self.draw = random.Random(seed)
        self.core, self.device = core, device
        self.issued: list[tuple[int, ...]] = []  # commands
        self.head = 0  # commands that are done
        self.open_requests: list[End] = []  # opens whose command is done or waits, in turn
        self.flows: list[End | None] = [None] * FLOWS
        self.generations = [0] * FLOWS
        self.ends: list[End] = []  # the program's
        self.listeners: dict[int, tuple[Listener, list[End]]] = {}
        self.since_listen: dict[int, int] = {}
        self.queue: list[tuple[End, int, int, bool, int, int]] = []  # statuses that no poll has taken
        self.took = 0
        self.saw: Counter[str] = Counter()

    # ---- commands

    def command(self, *wanted: int) -> None:
        self.issued.append(wanted)
        self.flushed()

    def flushed(self) -> None:
        """As many commands are in the ring as it has space for."""
        tail = self.core.get(DOORBELLS + 0x10)
        assert tail == min(len(self.issued), self.head + ENTRIES), (tail, len(self.issued), self.head)
        self.saw["full ring"] += tail < len(self.issued)

    def do(self) -> None:
        """The core does some, each as it was given."""
        tail = self.core.get(DOORBELLS + 0x10)
        for _ in range(min(tail - self.head, self.draw.choice((0, 1, 2, 5, 300)))):
            if self.space() == 0:  # an open may be answered
                break
            at = COMMANDS + 128 * (self.head % ENTRIES)
            opcode, _, request, flow, generation, _, _, remote, local = struct.unpack_from(
                "<BBHHBBIHH", self.core.memory, at
            )
            found = {OPEN: (remote, local), LISTEN: (local,), UNLISTEN: (local,)}.get(opcode, (flow, generation))
            wanted = self.issued[self.head]
            assert (opcode, *found) == wanted, f"command {self.head}: {(opcode, *found)}, not {wanted}"
            self.head += 1
            if opcode == OPEN:
                self.open_requests[0].generation = request  # until it has a flow
                self._opened(self.open_requests.pop(0), request)
            elif opcode in (CLOSE, ABORT):
                self.flows[flow] = None
        self.core.set(DOORBELLS + 0x20, self.head)

    def _opened(self, end: End, request: int) -> None:
        free = [flow for flow, held in enumerate(self.flows) if held is None]
        if not free or self.draw.random() < 0.1:
            self.notify(RESPONSE, request=request, reason=REFUSED)
            end.reason = REFUSED
            self.queue.append((end, 0, 0, False, REFUSED, self.head))
            return
        self._attach(end, self.draw.choice(free))
        self.status(end, request=request)

    def _attach(self, end: End, flow: int) -> None:
        self.flows[flow] = end
        self.generations[flow] = (self.generations[flow] + 1) % 256
        end.flow, end.generation = flow, self.generations[flow]
        end.iss, end.peer_iss = (self.draw.choice((0, 2**31 - 50, 2**32 - 50, 12345)) for _ in range(2))

    # ---- notifications

    def notify(self, kind: int, **fields: int) -> None:
        self.core.notify(kind, command_head=self.head, **fields)

    def space(self) -> int:
        heads = self.core.get(DOORBELLS + 0x14), self.core.get(DOORBELLS + 0x18)
        return NOTIFIED - (self.core.tail - max(heads))

    def status(self, end: End, request: int = 0) -> None:
        fin = int(end.finished)
        fields = {
            "state": ESTABLISHED if end.reason < 0 else 0,
            "reason": max(end.reason, 0),
            "flow": end.flow,
            "generation": end.generation,
            "acknowledged": (end.iss + end.acknowledged) % 2**32,
            # Both begin where the streams do, as the first status says.
            "written": (end.iss + end.written) % 2**32,
            "consumed": (end.peer_iss + end.consumed) % 2**32,
            "received": (end.peer_iss + end.received + fin) % 2**32,
            "flags": PASSIVE * end.passive + FINISHED * fin,
            "remote_ip": PEER,
            "remote_port": end.remote_port,
            "local_port": 80 if end.passive else 4000,
            "request": request,
        }
        self.notify(STATUS, **fields)
        self.queue.append((end, end.acknowledged, end.received, end.finished, end.reason, self.head))

    def happen(self) -> None:
        """Something of the peer's: ACKs, bytes, a FIN, a reset, a connection; or the same status again."""
        living = [end for end in self.flows if end and end.reason < 0]
        for _ in range(min(self.draw.choice((1, 1, 3, 70, 900)), self.space() - 4)):
            if not living:
                break
            end = self.draw.choice(living)
            act = self.draw.random()
            if act < 0.3:
                end.acknowledged += self.draw.randint(0, end.written - end.acknowledged)
            elif act < 0.6 and not end.finished:
                space = RING - (end.received - end.consumed)
                data = self.draw.randbytes(self.draw.choice((0, min(1, space), space // 2, space)))
                base = PAYLOAD // 2 + end.flow * RING
                for at, byte in enumerate(data, end.peer_iss + end.received):
                    self.core.memory[base + at % 2**32 % RING] = byte
                end.received += len(data)
                end.bytes_in += data
            elif act < 0.601:
                end.finished = True
            elif act < 0.6015:
                end.reason = RESET
                living.remove(end)
            self.status(end)
        if self.space() > 4 and self.draw.random() < 0.1 and None in self.flows:
            end = End(self.draw.randrange(1, 65536), None, passive=True)
            self._attach(end, self.flows.index(None))
            self.status(end)

    def poll(self) -> None:
        taken = self.core.tail - self.took
        self.device.poll()
        self.took = self.core.tail
        if taken:
            assert self.core.get(DOORBELLS + 0x18) == self.core.tail, "all is read, and armed"
        queue, self.queue = self.queue, []
        for each in queue:
            self._polled(*each)
        self.flushed()

    def _polled(self, end: End, acknowledged: int, received: int, finished: bool, reason: int, head: int) -> None:
        if end.dropped:
            if not end.heard and end.flow >= 0:
                self.issued.append((ABORT, end.flow, end.generation))
            end.heard = True
            return
        if end.passive and end.made is None and not end.heard:
            listener = self.listeners.get(80)
            if listener is None or len(listener[1]) >= BACKLOG or reason >= 0 or self.since_listen[80] > head:
                self.issued.append((CLOSE if reason >= 0 else ABORT, end.flow, end.generation))
                end.dropped = end.heard = True
                self.saw["not wanted"] += 1
                return
            listener[1].append(end)
        end.heard = True
        if end.seen_reason < 0:
            end.seen_acknowledged, end.seen_received = acknowledged, received
            end.seen_finished, end.seen_reason = finished, reason

    # ---- the program's calls

    def connect(self) -> None:
        for _ in range(max(0, 5 - len(self.ends)) or self.draw.random() < 0.02):
            port = self.draw.randrange(1, 65536)
            end = End(port, self.device.connect(PEER, port, 4000))
            self.open_requests.append(end)
            self.ends.append(end)
            self.command(OPEN, port, 4000)

    def listen(self) -> None:
        """Port 80 accepts; the others make many commands."""
        for port in (80, *range(1000, 1000 + self.draw.choice((0, 0, 0, 400)))):
            if port in self.listeners:
                listener, waiting = self.listeners.pop(port)
                listener.close()
                for end in waiting:
                    end.dropped = True
                    self.issued.append((ABORT, end.flow, end.generation))
                self.command(UNLISTEN, port)
            else:
                self.listeners[port] = (self.device.listen(port, BACKLOG), [])
                self.command(LISTEN, port)
                self.since_listen[port] = len(self.issued)

    def accept(self) -> None:
        if 80 in self.listeners:
            listener, waiting = self.listeners[80]
            made = listener.accept()
            assert (made is not None) == bool(waiting)
            if made:
                end = waiting.pop(0)
                assert (made.info.remote_port, made.info.flow) == (end.remote_port, end.flow)
                end.made = made
                self.ends.append(end)
                self.saw["accepted"] += 1

    def let_go(self) -> None:
        ended = [end for end in self.ends if end.seen_reason >= 0]
        if self.ends and (ended or self.draw.random() < 0.5):
            end = self.draw.choice(ended or self.ends)
            self.ends.remove(end)
            assert end.made
            opcode = self.draw.choice((CLOSE, ABORT))
            (end.made.close if opcode == CLOSE else end.made.abort)()
            end.dropped = True
            if end.heard and end.flow >= 0:
                self.command(opcode, end.flow, end.generation)
            self.saw["let go early"] += not end.heard
            self.saw["let go"] += end.seen_reason < 0

    def use(self) -> None:
        """One call for one connection."""
        if not self.ends:
            return
        end = self.draw.choice(self.ends)
        made = end.made
        assert made
        act = self.draw.random()
        if act < 0.45:
            self._send(end, made)
        elif act < 0.9:
            self._receive(end, made)
        elif act < 0.93 and end.heard and end.seen_reason < 0:
            made.shutdown()
            if not end.shut:
                self.command(SHUTDOWN, end.flow, end.generation)
            end.shut = True
        info = made.info
        assert (info.sent, info.acknowledged) == (end.sent, end.seen_acknowledged)
        assert (info.received, info.consumed) == (end.seen_received, end.consumed)
        assert bool(info.peer_finished) == end.seen_finished
        assert (info.state == State.CLOSED) == (end.seen_reason >= 0)

    def _send(self, end: End, made: Connection) -> None:
        data = self.draw.randbytes(self.draw.choice((1, 100, RING // 2, 2 * RING)))
        if end.shut or end.seen_reason >= 0:
            code = Error.SHUT_DOWN if end.shut else Error.REFUSED if end.seen_reason == REFUSED else Error.RESET
            with pytest.raises(DriverError) as refused:
                made.send(data)
            assert refused.value.code is code
            return
        space = RING - (end.sent - end.seen_acknowledged) if end.heard else 0
        taken = made.send(data)
        assert taken == min(len(data), space)
        if taken:
            self.saw["full send ring"] += taken < len(data)
            begin = end.iss + end.sent
            ring = self.core.memory[end.flow * RING : (end.flow + 1) * RING]
            assert bytes(ring[(begin + at) % 2**32 % RING] for at in range(taken)) == data[:taken]
            end.sent = end.written = end.sent + taken
            doorbell = ((end.iss + end.sent) % 2**32, end.flow | end.generation << 16)
            assert (self.core.get(DOORBELLS), self.core.get(DOORBELLS + 4)) == doorbell

    def _receive(self, end: End, made: Connection) -> None:
        capacity = self.draw.choice((1, 50, RING))
        waiting = end.seen_received - end.consumed
        if not waiting and end.seen_reason >= 0 and not (end.heard and end.flow >= 0 and end.seen_finished):
            with pytest.raises(DriverError) as ended:
                made.receive(capacity)
            assert ended.value.code is (Error.REFUSED if end.seen_reason == REFUSED else Error.RESET)
            return
        got = made.receive(capacity)
        if not waiting:
            assert got == (b"" if end.seen_finished else None)
            return
        assert got == bytes(end.bytes_in[: min(capacity, waiting)])
        del end.bytes_in[: len(got)]
        end.consumed += len(got)
        if end.seen_reason < 0:
            doorbell = ((end.peer_iss + end.consumed) % 2**32, end.flow | end.generation << 16)
            assert (self.core.get(DOORBELLS + 8), self.core.get(DOORBELLS + 12)) == doorbell

    def step(self) -> None:
        acts = (self.use, self.happen, self.poll, self.do, self.connect, self.accept, self.let_go, self.listen)
        self.draw.choices(acts, (60, 20, 20, 12, 4, 6, 6, 0.5))[0]()


def test_rings_and_connections_do_what_the_model_does(core: Core) -> None:
    print(f"seed {SEED}")
    core.stands = True
    with Device(f"uio:{core.uri}") as device:
        port = Port(core, device, SEED)
        for act in range(ACTS):
            try:
                port.step()
            except AssertionError as error:
                raise AssertionError(f"seed {SEED}, act {act}: {error}") from None
        while port.head < len(port.issued):
            port.do()
            port.poll()
        assert device.statistics.errors == 0
        core.stands = False
    print(port.saw, len(port.issued), core.tail)
    assert len(port.issued) > 4 * ENTRIES and core.tail > 4 * NOTIFIED
    assert all(
        port.saw[name] for name in ("full ring", "full send ring", "accepted", "not wanted", "let go", "let go early")
    ), port.saw
