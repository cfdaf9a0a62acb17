# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Packet pairs of probes, as rtl/downbeat/congestion/startup/PacketPairs.scala: which segment is which.

Pairs begin once the window began with two segments or the first has gone alone. What is no probe, or a loss, ends a
pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Departure, Kind, Pace

TRIES = 4
NO_GAP = (0, (1 << 36) - 1)  # ns: an arrival gap of none, or one too large for the field


@dataclass(frozen=True)
class PacketPairs(PackedFields):
    """Its place in a pair, as part of a policy state."""

    ready: int = 0  # a flag, as the next
    second: int = 0
    left: int = 0  # pairs that may still go back to back to learn the first gap

    FIELDS = (("ready", 1), ("second", 1), ("left", 3))

    def completed_by(self, event: CongestionEvent, *, inverted: bool) -> bool:
        """The event sent the second segment of a pair."""
        ahead = inverted and event.sent_ahead
        return event.kind is Kind.SENT and event.sent_probe and bool(self.second) and not ahead

    def after(self, event: CongestionEvent, *, inverted: bool) -> PacketPairs:
        match event.kind:
            case Kind.SENT:
                second = event.sent_probe and (event.sent_ahead if inverted else not self.second)
                gone = self.completed_by(event, inverted=inverted) and self.left > 0
                return PacketPairs(True, second, self.left - gone)
            case Kind.LOSS | Kind.TIMEOUT:
                return replace(self, second=False)
            case Kind.ESTABLISHED:
                return PacketPairs(event.initial_window >= 2, False, TRIES)
            case _:
                return self

    def departure(self, *, inverted: bool, pause: int = 0, gap: int = 0) -> Departure:
        """`pause` before a pair and `gap` in it, ns with 16 fraction bits; without a gap back to back."""
        if not self.second:
            return Departure(Pace.APART, pause, inverted=inverted, minimum_segments=2, probe=True, begins=True)
        return Departure(Pace.APART if gap else Pace.ADJACENT, gap, inverted=inverted, probe=True)


def ended(event: CongestionEvent) -> bool:
    """This event's ACK ends a pair."""
    return event.probe is not None and not event.probe.begins


def measured(event: CongestionEvent) -> bool:
    """And both of its gaps are right."""
    return event.probe is not None and not event.probe.begins and not event.probe.disturbed


def first_gap(event: CongestionEvent) -> int:
    """The gap that a pair comes out with, ns; zero if the event tells none."""
    if event.probe is None or not measured(event) or event.probe.arrival_gap in NO_GAP:
        return 0
    return event.probe.arrival_gap
