# SPDX-License-Identifier: BSD-2-Clause-Patent
"""RACK as RFC 8985 6.2 defines it: the time at which each segment was sent, and five steps with each ACK. Times are ns,
segments are numbered from 0 and of one size. Without timestamps and D-SACK."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

DUPLICATE_THRESHOLD = 3  # segments


@dataclass
class Segment:
    number: int
    sent_at: int
    retransmitted: bool = False
    lost: bool = False

    @property
    def order(self) -> tuple[int, int]:
        """RACK_sent_after compares it."""
        return self.sent_at, self.number


@dataclass
class Rack:
    smallest_rtt: int  # RACK.min_RTT
    smoothed_rtt: int
    reordering_seen: bool = False
    rtt: int = 0  # RACK.rtt
    newest: tuple[int, int] = (-1, -1)  # RACK.xmit_ts and RACK.end_seq
    highest: int = -1  # RACK.fack
    recovery_point: int = 0  # a recovery lasts until all before it is acknowledged; `loses` says when one begins
    acknowledged: int = 0
    held: set[int] = field(default_factory=set)
    segments: dict[int, Segment] = field(default_factory=dict)  # not delivered

    def sent(self, number: int, now: int) -> None:
        known = number in self.segments
        self.segments[number] = Segment(number, now, retransmitted=known)

    @property
    def recovering(self) -> bool:
        return self.acknowledged < self.recovery_point

    @property
    def lost(self) -> list[int]:
        """Segments that are lost and not sent again."""
        return sorted(each.number for each in self.segments.values() if each.lost)

    @property
    def overtaken(self) -> list[int]:
        """Segments that are lost unless they are late: one that left later was delivered."""
        return sorted(each.number for each in self.segments.values() if each.lost or each.order < self.newest)

    def heard(self, acknowledged: int, blocks: Iterable[tuple[int, int]], now: int) -> int | None:
        """An ACK of all segments before `acknowledged`, which holds the ranges. When to look again; None: not."""
        held = {number for left, right in blocks for number in range(left, right)}
        delivered = [each for each in self.segments.values() if each.number < acknowledged or each.number in held]
        self.held |= held
        self.acknowledged = max(self.acknowledged, acknowledged)
        for each in delivered:
            del self.segments[each.number]
        for each in delivered:
            self._deliver(each, now)
        return self.detect(now)

    def loses(self) -> None:
        """A recovery begins."""
        self.recovery_point = max([*self.segments, *self.held]) + 1

    def _deliver(self, segment: Segment, now: int) -> None:
        """Steps 1 to 3."""
        rtt = now - segment.sent_at
        if not segment.retransmitted:
            self.smallest_rtt = min(self.smallest_rtt, rtt)
        if (not segment.retransmitted or rtt >= self.smallest_rtt) and segment.order > self.newest:
            self.rtt, self.newest = rtt, segment.order
        if segment.number > self.highest:
            self.highest = segment.number
        elif not segment.retransmitted:
            self.reordering_seen = True

    def window(self) -> int:
        """Step 4."""
        behind = sum(number >= self.acknowledged for number in self.held)
        if not self.reordering_seen and (self.recovering or behind >= DUPLICATE_THRESHOLD):
            return 0
        return min(self.smallest_rtt // 4, self.smoothed_rtt)

    def detect(self, now: int) -> int | None:
        """Step 5, with an ACK and when its time has come."""
        window, times = self.window(), []
        for each in self.segments.values():
            if each.lost or each.order >= self.newest:
                continue
            end = each.sent_at + self.rtt + window
            each.lost = end <= now
            if not each.lost:
                times.append(end)
        return max(times, default=None)
