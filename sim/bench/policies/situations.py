# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Situations that a draw must contain for a policy to count as tried: how often each policy was there when it happened."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from downbeat_toe.structures import Event

IDLE_NS = 10**9  # longer than a timer would wait
ENDS = ("close", "abort")

# Effects of the path on a connection (sim/bench/policies/path.py).
ON_THE_PATH = ("data lost", "data reordered", "ACK lost", "ACKs reordered")
# Situations that the engine's events show.
OF_ANY = (
    "sequence wrap",  # SND.UNA has gone through zero
    "smallest windows",  # cwnd is one segment, ssthresh two
    "ACK of a segment",
    "delayed ACK",  # an ACK of two segments or more
    "loss",
    "loss in a loss",  # another hole in the same recovery
    "timeout",
    "timeout in recovery",
    "timeout again",
    "undone",  # the last loss or timeout was spurious
    "restart from idle",  # nothing in flight for a second, then a new segment
    "policies changed",
    *ON_THE_PATH,
)
# Situations of a policy with long calculations: one was under way.
OF_CALCULATIONS = ("policies changed while calculating", "ended while calculating")

Key = tuple[str, str]  # family and name of a policy


@dataclass
class Situations:
    """How often each happened, for each policy."""

    counts: defaultdict[Key, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def happened(self, policies: tuple[Key, Key], situation: str) -> None:
        for policy in policies:
            self.counts[policy][situation] += 1


def wanted(*, calculates: bool) -> tuple[str, ...]:
    return OF_ANY + (OF_CALCULATIONS if calculates else ())


@dataclass
class Watched:
    """One connection, event by event."""

    calculating: bool = False
    recovering: bool = False
    acknowledged: int | None = None
    quiet_since: int | None = None  # ns; None: something is in flight

    def after(self, event: Event, kind: str, name: str) -> Iterator[str]:
        """`kind` and `name` are the event's texts: what it means for the window, and what it is."""
        yield from self._segments(event, kind)
        yield from self._recovery(kind)
        yield from self._calculation(event, name)
        if (event.cwnd, event.ssthresh) == (event.segment_size << 16, 2 * event.segment_size << 16):
            yield "smallest windows"
        if self.acknowledged is not None and self.acknowledged - event.acknowledged > 1 << 31:
            yield "sequence wrap"
        self.acknowledged = event.acknowledged

    def _segments(self, event: Event, kind: str) -> Iterator[str]:
        if kind == "acknowledged":
            if event.acked == event.segment_size:
                yield "ACK of a segment"
            if event.acked >= 2 * event.segment_size:
                yield "delayed ACK"
        if kind == "sent":
            if self.quiet_since is not None and event.time - self.quiet_since > IDLE_NS:
                yield "restart from idle"
            self.quiet_since = None
        elif event.flight == event.acked and self.quiet_since is None:
            self.quiet_since = event.time

    def _recovery(self, kind: str) -> Iterator[str]:
        match kind:
            case "loss":
                yield "loss"
                self.recovering = True
            case "partial":
                yield "loss in a loss"
            case "timeout":
                yield "timeout in recovery" if self.recovering else "timeout"
                self.recovering = False
            case "timeoutAgain":
                yield "timeout again"
            case "undone":
                yield "undone"
                self.recovering = False
            case "recovered":
                self.recovering = False

    def _calculation(self, event: Event, name: str) -> Iterator[str]:
        if name == "calculated":
            self.calculating = False
        if name == "setPolicies":
            yield "policies changed"
            if self.calculating:
                yield "policies changed while calculating"
        if name in ENDS and self.calculating:
            yield "ended while calculating"
        self.calculating = self.calculating or bool(event.requested)
