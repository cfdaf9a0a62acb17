# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The table of connections in TIME-WAIT in integers: a ring of places, and the rules of RFC 9293 3.10.7.4 and RFC 6191
for a segment (docs/reference/flow.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

DURATION = 60 * 10**9  # 2 MSL, ns
UNIT = 2**16  # ns: a deadline is a multiple
INTERVAL = 2**27  # one challenge ACK in each, ns
SEQUENCE_STEP = 65538


class Verdict(NamedTuple):
    """`succeeds`: the segment asks for the 4-tuple's next connection. Otherwise an ACK is the reply, or none."""

    succeeds: bool
    acknowledged: bool
    suppressed: bool


@dataclass(eq=False)
class Waiting:
    """A connection: SND.NXT, RCV.NXT, and TS.Recent if it has timestamps."""

    key: Hashable
    next: int
    received: int
    recent: int | None
    deadline: int = 0  # ns
    challenged: int = 0  # interval

    def is_over(self, now: int) -> bool:
        return (now - self.deadline) % 2**48 < 2**47

    def begin(self, now: int) -> None:
        self.deadline = -(-(now + DURATION) // UNIT) * UNIT % 2**48

    def successor(self, by_clock: int) -> int:
        """The initial sequence number of the next connection: above SND.NXT (RFC 9293 3.6.1)."""
        return by_clock if ahead(by_clock, self.next) >= 0 else (self.next + SEQUENCE_STEP) % 2**32

    def judge(self, segment: Mapping[str, int], now: int) -> Verdict:
        """The segment's effect: its reply restarts 2 MSL, or spends the interval's challenge ACK."""
        fin, syn, rst, ack = (segment[f"flags_{name}"] for name in ("fin", "syn", "rst", "ack"))
        stamped = bool(segment["options_timestampValid"])
        start = ahead(segment["sequence_value"], self.received)
        stop = ahead(segment["sequence_value"] + segment["length"] + fin, self.received)
        age = None
        if self.recent is not None and stamped:
            age = ahead(segment["options_timestampValue"], self.recent)
        old = age is not None and age < 0
        first_stamps = self.recent is None and stamped

        succeeds = bool(syn and not ack and not rst)
        if age is None:
            succeeds &= start > 0 or first_stamps
        else:
            succeeds &= age > 0 or (age == 0 and start > 0)

        lacks_stamps = self.recent is not None and not stamped and not syn
        fin_again = bool(fin and not syn and stop == 0 and not old)
        expected = start == 0 and not (segment["length"] or fin or syn or old)
        if rst or lacks_stamps or expected:
            return Verdict(succeeds, acknowledged=False, suppressed=False)
        limited = not fin_again and (not segment["length"] or bool(syn))
        interval = now // INTERVAL % 256
        held_back = limited and self.challenged == interval
        if not succeeds:
            self._reply(now, fin_again, limited, interval)
        return Verdict(succeeds, acknowledged=not held_back, suppressed=held_back)

    def _reply(self, now: int, fin_again: bool, limited: bool, interval: int) -> None:
        if fin_again:
            self.begin(now)
        if limited:
            self.challenged = interval


@dataclass
class TimeWaits:
    places: int
    held: dict[Hashable, Waiting] = field(default_factory=dict)
    ring: deque[Waiting] = field(default_factory=deque)
    given_up: int = 0

    def find(self, key: Hashable, now: int) -> Waiting | None:
        waiting = self.held.get(key)
        return None if waiting is None or waiting.is_over(now) else waiting

    def enter(self, waiting: Waiting, now: int) -> None:
        if len(self.ring) == self.places:
            self._leave(now)
        waiting.begin(now)
        waiting.challenged = (now // INTERVAL - 1) % 256
        self.ring.append(waiting)
        self.held[waiting.key] = waiting

    def moves(self, now: int) -> None:
        """The oldest ones leave when their time is over."""
        while self.ring and self.ring[0].is_over(now):
            self._leave(now)

    def reopen(self, key: Hashable) -> None:
        del self.held[key]

    def _leave(self, now: int) -> None:
        oldest = self.ring.popleft()
        if self.held.get(oldest.key) is oldest:
            self.given_up += not oldest.is_over(now)
            del self.held[oldest.key]


def ahead(one: int, other: int) -> int:
    """The signed distance of two numbers of 32 bits."""
    return (one - other + 2**31) % 2**32 - 2**31
