# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The path between the core and its peers: a bottleneck with a queue, losses, reordering and doubling either way, in phases."""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field

from sim.policies.peer import RST, Peer, Temper

MILLISECOND = 1_000_000  # ns
SHORTEST_NS = MILLISECOND  # of a way


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
    """Frames of the core go in, those of the peers come out when they arrive at the core."""

    draw: random.Random
    peers: dict[bytes, Peer] = field(default_factory=dict)  # by the core's port and the peer's
    arrivals: list[tuple[int, int, bytes]] = field(default_factory=list)  # at the core; ns
    phase: Phase = Phase(0, 0, 0, 0)
    phase_ends: int = 0
    _count: int = 0
    _timers: list[tuple[int, bytes]] = field(default_factory=list)
    _busy: dict[bytes, int] = field(default_factory=dict)

    def enters(self, frame: bytes, departure: int) -> None:
        """A frame of the core whose SFD left at `departure`, ns."""
        if departure >= self.phase_ends:
            self.phase = Phase.drawn(self.draw)
            self.phase_ends = departure + self.draw.randrange(20, 3000) * MILLISECOND
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            return
        key = frame[34:38]
        if frame[47] & 2 and key not in self.peers:
            temper = Temper(self.draw.random() < 0.5, self.draw.random() < 0.6, self.draw.choice([536, 1460]))
            self.peers[key] = Peer(temper, frame[:54])
        if key not in self.peers or self.draw.random() < self.phase.loss:
            return
        rate, queue = _link(key)
        begin = max(departure, self._busy.get(key, 0))
        if begin - departure > queue * 8 * 1500 * 10**9 // rate:
            return  # the queue is full
        self._busy[key] = begin + len(frame) * 8 * 10**9 // rate
        at = self._busy[key] + _way(key) + self._jitter()
        for _ in range(2 if self.draw.random() < self.phase.double else 1):
            self._arrive(key, self.peers[key].hears(frame, at), at)
            if (due := self.peers[key].ack_due) is not None:
                heapq.heappush(self._timers, (due, key))
        if frame[47] & RST:
            del self.peers[key]

    def timers(self, now: int) -> None:
        """Delayed ACKs."""
        while self._timers and self._timers[0][0] <= now:
            at, key = heapq.heappop(self._timers)
            if key in self.peers:
                self._arrive(key, self.peers[key].timer(at), at)

    def due(self, until: int) -> list[tuple[int, bytes]]:
        found = []
        while self.arrivals and self.arrivals[0][0] <= until:
            at, _, frame = heapq.heappop(self.arrivals)
            found.append((at, frame))
        return found

    def _arrive(self, key: bytes, frames: list[bytes], at: int) -> None:
        for frame in frames:
            if self.draw.random() >= self.phase.ack_loss:
                self._count += 1
                heapq.heappush(self.arrivals, (at + _way(key) + self._jitter(), self._count, frame))

    def _jitter(self) -> int:
        return self.draw.randrange(5 * MILLISECOND) if self.draw.random() < self.phase.reorder else 0


def _link(key: bytes) -> tuple[int, int]:
    """A connection's own bottleneck, b/s, and its queue, packets: by its ports."""
    return (2, 10, 50, 200)[key[1] % 4] * 10**6, (5, 20, 100)[key[1] % 3]


def _way(key: bytes) -> int:
    return SHORTEST_NS * (1, 3, 10, 30, 100)[key[1] % 5]
