# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The path between the core and its peers: a bottleneck with a queue, losses, reordering and doubling either way, in
phases."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from sim.bench.policies.peer import RST, SYN, Peer, Temper, parts

MILLISECOND = 1_000_000  # ns
SHORTEST_NS = MILLISECOND  # one way


@dataclass(frozen=True)
class Phase:
    """Probabilities are for each frame."""

    loss: float
    ack_loss: float
    reorder: float
    double: float

    @classmethod
    def drawn(cls, draw: random.Random) -> Phase:
        if draw.random() < 0.05:
            return cls(1, 1, 0, 0)  # an outage: the retransmission timer
        return cls(
            draw.choice([0, 0, 0.001, 0.01, 0.05, 0.3]),
            draw.choice([0, 0, 0.05, 0.5]),
            draw.choice([0, 0, 0.01, 0.1]),
            draw.choice([0, 0, 0.01]),
        )


@dataclass
class Path:
    """Frames of the core go in, those of the peers come out when they arrive at the core; `befell` hears what happens
    to them."""

    draw: random.Random
    befell: Callable[[bytes, str], None]  # the core's port and the peer's; of situations.ON_THE_PATH
    peers: dict[bytes, Peer] = field(default_factory=dict)  # by those ports
    phase: Phase = Phase(0, 0, 0, 0)
    phase_ends: int = 0
    _count: int = 0
    # At the peers (no frame: a delayed ACK is due) and at the core: ns, the order of departure, ports, frame.
    _to_peers: list[tuple[int, int, bytes, bytes]] = field(default_factory=list)
    _to_core: list[tuple[int, int, bytes, bytes]] = field(default_factory=list)
    _newest: dict[tuple[bytes, str], int] = field(default_factory=dict)
    _busy: dict[bytes, int] = field(default_factory=dict)

    def enters(self, frame: bytes, departure: int) -> None:
        """A frame of the core whose SFD left at `departure`, ns."""
        if departure >= self.phase_ends:
            self.phase = Phase.drawn(self.draw)
            # An outage is to outlast timers, and their doubling.
            self.phase_ends = departure + self.draw.randrange(20, 3000 if self.phase.loss == 1 else 300) * MILLISECOND
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            return
        key = frame[34:38]
        if frame[47] & SYN and key not in self.peers:
            temper = Temper(self.draw.random() < 0.5, self.draw.random() < 0.6, self.draw.choice([536, 1460]))
            self.peers[key] = Peer(temper, frame[:54])
        if key not in self.peers:
            return
        rate, queue = _link(key)
        begin = max(departure, self._busy.get(key, 0))
        full = begin - departure > queue * 8 * 1500 * 10**9 // rate
        if full or self.draw.random() < self.phase.loss:
            if parts(frame).length:
                self.befell(key, "data lost")
            return
        self._busy[key] = begin + len(frame) * 8 * 10**9 // rate
        at = self._busy[key] + _way(key) + self._jitter()
        for _ in range(2 if self.draw.random() < self.phase.double else 1):
            self._push(self._to_peers, at, key, frame)

    def next_arrival(self) -> int | None:
        """At the core, ns."""
        return self._to_core[0][0] if self._to_core else None

    def due(self, until: int) -> list[tuple[int, bytes]]:
        """The frames that arrive at the core until then, after all that arrived at the peers."""
        while self._to_peers and self._to_peers[0][0] <= until:
            at, order, key, frame = heapq.heappop(self._to_peers)
            if key in self.peers:
                self._at_peer(at, order, key, frame)
        found = []
        while self._to_core and self._to_core[0][0] <= until:
            at, order, key, frame = heapq.heappop(self._to_core)
            self._overtaken(order, key, "ACKs reordered")
            found.append((at, frame))
        return found

    def _at_peer(self, at: int, order: int, key: bytes, frame: bytes) -> None:
        peer = self.peers[key]
        if not frame:
            self._leave(key, peer.timer(at), at)
            return
        if parts(frame).length:
            self._overtaken(order, key, "data reordered")
        self._leave(key, peer.hears(frame, at), at)
        if peer.ack_due is not None:
            self._push(self._to_peers, peer.ack_due, key, b"")
        if frame[47] & RST:
            del self.peers[key]

    def _leave(self, key: bytes, frames: list[bytes], at: int) -> None:
        for frame in frames:
            if self.draw.random() < self.phase.ack_loss:
                self.befell(key, "ACK lost")
            else:
                self._push(self._to_core, at + _way(key) + self._jitter(), key, frame)

    def _push(self, heap: list[tuple[int, int, bytes, bytes]], at: int, key: bytes, frame: bytes) -> None:
        self._count += 1
        heapq.heappush(heap, (at, self._count, key, frame))

    def _overtaken(self, order: int, key: bytes, situation: str) -> None:
        if order < self._newest.get((key, situation), 0):
            self.befell(key, situation)
        else:
            self._newest[key, situation] = order

    def _jitter(self) -> int:
        return self.draw.randrange(5 * MILLISECOND) if self.draw.random() < self.phase.reorder else 0


def _link(key: bytes) -> tuple[int, int]:
    """A connection's own bottleneck, b/s, and its queue, packets: by its ports."""
    return (2, 10, 50, 200)[key[1] % 4] * 10**6, (5, 20, 100)[key[1] % 3]


def _way(key: bytes) -> int:
    return SHORTEST_NS * (1, 3, 10, 30, 100)[key[1] % 5]
