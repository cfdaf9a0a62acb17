# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A sender under BBR, a bottleneck with a queue, and a receiver that acknowledges each packet: for tests.

A packet that finds the queue full is marked lost by the ACK of the third packet behind it.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from sim.golden.congestion.bbr.delivery import Packet, RateSample
from sim.golden.congestion.bbr.draft import Bbr

REORDERING = 3  # packets


@dataclass
class Path:
    """Bytes, seconds. `queue` is in BDPs; `loss(number)`: the path drops a packet; `joins`: ACKs that come at once;
    `source`: bytes/s that the application writes."""

    bbr: Bbr
    bandwidth: float
    round_trip: float
    queue: float = 10.0
    parts: float = inf  # a packet is a segment, or this part of cwnd
    loss: Callable[[int], bool] = lambda number: False
    joins: int = 1
    source: float = inf
    jitter: float = 0.0  # ACKs are late by up to this part of the round trip
    whole: bool = False  # one range is lost with an ACK, and has the snapshot of the packet that the ACK is for
    now: float = 0.0
    lost: int = 0  # bytes, with the last ACK
    _next_send: float = 0.0
    _free: float = 0.0
    _blocked: float = -1.0  # C.delivered when cwnd last held a packet back
    _acks: deque[tuple[float, Packet]] = field(default_factory=deque)
    _dropped: deque[Packet] = field(default_factory=deque)
    _recover: int = 0
    _draw: random.Random = field(default_factory=lambda: random.Random(1))

    @property
    def size(self) -> int:
        return max(self.bbr.c.smss, int(self.bbr.c.cwnd / self.parts))

    @property
    def bdp(self) -> float:
        return self.bandwidth * self.round_trip

    @property
    def backlog(self) -> float:
        """Bytes in the queue."""
        return max(self._free - self.now, 0.0) * self.bandwidth

    def run(self, until: float, see: Callable[[RateSample], None] = lambda sample: None) -> None:
        c = self.bbr.c
        while self.now < until:
            ack = self._acks[min(self.joins, len(self._acks)) - 1][0] if self._acks else inf
            fits = c.inflight + self.size <= c.cwnd or c.inflight == 0
            written = (c.delivered + c.lost + c.inflight) / self.source
            send = max(self._next_send, self.now, written) if fits else inf
            if not fits:
                self._blocked = c.delivered
            elif written > max(self._next_send, self.now):
                c.mark_app_limited()
            if send <= ack:
                self._send(send)
            else:
                see(self._acknowledge(ack))

    def _send(self, now: float) -> None:
        c, self.now = self.bbr.c, now
        self.bbr.on_transmit(now)
        packet = c.on_packet_sent(self.size, now)
        self._next_send = now + packet.size / c.pacing_rate
        if self.backlog > self.queue * self.bdp or self.loss(packet.number):
            self._dropped.append(packet)
            return
        self._free = max(self._free, now) + packet.size / self.bandwidth
        late = self.jitter * self._draw.random() * (self.round_trip + packet.size / self.bandwidth)
        ack = max(self._free + self.round_trip + late, self._acks[-1][0] if self._acks else 0)
        self._acks.append((ack, packet))

    def _acknowledge(self, now: float) -> RateSample:
        bbr, c, self.now = self.bbr, self.bbr.c, now
        acked = [self._acks.popleft()[1] for _ in range(min(self.joins, len(self._acks)))]
        lost = []
        while self._dropped and self._dropped[0].number <= acked[-1].number - REORDERING:
            lost.append(self._dropped.popleft())
            c.inflight -= lost[-1].size
        self.lost = sum(packet.size for packet in lost)
        if self.whole:
            c.lost += self.lost
        sample = c.on_ack(acked, now)
        c.is_cwnd_limited = self._blocked >= sample.prior_delivered
        if lost and not c.in_loss_recovery:
            self._recover = lost[-1].number + int(c.inflight / self.size)
            bbr.on_enter_fast_recovery()
        if lost and self.whole:
            bbr.handle_lost_packet(self.lost, sample.tx_in_flight, sample.lost, sample.is_app_limited, now)
        elif lost:
            for packet in lost:
                c.lost += packet.size
                since = c.lost - packet.lost
                bbr.handle_lost_packet(packet.size, packet.tx_in_flight, since, packet.is_app_limited, now)
            sample.lost = c.lost - acked[-1].lost
        elif c.in_loss_recovery and acked[-1].number >= self._recover:
            bbr.on_exit_recovery()
        bbr.update_on_ack(sample, now)
        return sample
