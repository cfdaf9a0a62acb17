# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SEARCH as draft-chung-ccwg-search describes it, in floats with every ACK's round trip; and ACK traces of slow
start."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

SMSS = 1460


@dataclass
class Draft:
    """The draft's names. Times in seconds. Interpolation looks back from the earlier bin, as its authors corrected
    it."""

    window_factor = 3.5
    W = 10
    extra_bins = 15
    threshold = 0.26
    bin_duration: float = 0.0
    bin_end: float = 0.0
    acked: list[float] = field(default_factory=list)  # one for every bin since the begin
    sent: list[float] = field(default_factory=list)

    def ack(self, now: float, acked: float, sent: float, rtt: float) -> bool:
        """Bytes so far. Whether slow start ends with this ACK."""
        if not self.acked:
            self.bin_duration = rtt * self.window_factor / self.W
            self.bin_end = now + self.bin_duration
            self.acked, self.sent = [acked], [sent]
            return False
        if now <= self.bin_end:
            return False
        passed = int((now - self.bin_end) / self.bin_duration) + 1
        if passed > self.W:
            self.acked = []
            return False
        self.acked += [self.acked[-1]] * (passed - 1) + [acked]
        self.sent += [self.sent[-1]] * (passed - 1) + [sent]
        self.bin_end += passed * self.bin_duration
        index = len(self.acked) - 1
        before = index - int(rtt / self.bin_duration)
        if before <= self.W or index - before >= self.extra_bins:
            return False
        delivered = self.acked[index] - self.acked[index - self.W]
        fraction = rtt / self.bin_duration % 1
        prior = self.sent[before] - self.sent[before - self.W]
        earlier = self.sent[before - 1] - self.sent[before - 1 - self.W]
        expected = earlier * fraction + prior * (1 - fraction)
        return expected > 0 and (expected - delivered) / expected >= self.threshold


@dataclass(frozen=True)
class Ack:
    """now and rtt in ns; acked: new bytes; flight: bytes in flight before it; round: which round trip of slow start."""

    now: int
    acked: int
    flight: int
    rtt: int
    round: int


def trace(draw: random.Random) -> Iterator[Ack]:
    """Slow start over one bottleneck with a queue without end, jitter, and delayed ACKs in half of the cases."""
    base = draw.uniform(0.01, 0.2)
    bdp = draw.uniform(10, 400)  # segments
    service, jitter, per_ack = base / bdp, draw.choice([0, 0.001, 0.01]) * base, draw.choice([1, 2])
    cwnd, sent, acked, now, free, last = 10.0, 0, 0, 0.0, 0.0, 0.0
    path: deque[tuple[float, float]] = deque()  # ACKs that come: when, and when the segment left
    number, round_end = 0, 10
    while acked < 30 * bdp + 1000:
        while sent - acked < int(cwnd):
            free = max(free, now) + service
            last = max(last, free + base + draw.uniform(0, jitter))
            path.append((last, now))
            sent += 1
        count = min(per_ack, len(path))
        for _ in range(count):
            now, left = path.popleft()
        if acked >= round_end:
            number, round_end = number + 1, sent
        yield Ack(round(now * 1e9), count * SMSS, (sent - acked) * SMSS, round((now - left) * 1e9), number)
        acked += count
        cwnd += count
