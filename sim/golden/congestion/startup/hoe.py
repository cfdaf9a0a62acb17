# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hoe's ssthresh by packet pair, as rtl/downbeat/congestion/startup/Hoe.scala.

The ACKs of the first pair, sent back to back, arrive y0 apart: ssthresh = floor(R / y0) segments, R the round trip of
its first segment; once. Argument: 1 inverts the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import gap_window
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.packet_pairs import PacketPairs, first_gap
from sim.golden.congestion.seam import (
    Calculation,
    Calculator,
    CongestionEvent,
    Departure,
    Kind,
    PolicyResult,
    Window,
    of_bytes,
    wrap,
)
from sim.golden.congestion.slow_start import slow_start

TIME_BITS = 36


@dataclass(frozen=True)
class HoeState(PackedFields):
    """The policy state, lowest field first."""

    inverted: int = 0  # a flag
    pairs: PacketPairs = field(default_factory=PacketPairs)
    gap: int = 0  # ns
    round_trip: int = 0  # ns
    over: int = 0  # a flag

    FIELDS = (("inverted", 1), ("pairs", PacketPairs), ("gap", TIME_BITS), ("round_trip", TIME_BITS), ("over", 1))


@dataclass(frozen=True)
class Hoe:
    name: str = "hoe"
    state: type[PackedFields] = HoeState
    calculator: Calculator = field(default=gap_window.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = HoeState.unpacked(policy_state)
        inverted = bool(before.inverted)
        after = replace(before, pairs=before.pairs.after(event, inverted=inverted))
        new = slow_start(event, window)
        if before.gap == 0:
            round_trip = before.round_trip if event.rtt is None else event.rtt
            after = replace(after, round_trip=round_trip, gap=first_gap(event))
        match event.kind:
            case Kind.ESTABLISHED:
                after = replace(after, gap=0, round_trip=0, over=False)
            case Kind.LOSS | Kind.TIMEOUT:
                after = replace(after, over=True)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup:
                after = replace(after, over=True)
                new = replace(new, ssthresh=of_bytes(wrap(event.calculated.response, 31)))
            case _:
                pass
        departure = Departure()
        if after.pairs.ready and after.pairs.left > 0 and before.gap == 0 and not after.over:
            departure = after.pairs.departure(inverted=inverted)
        requested = None
        if before.gap and before.round_trip and not before.over and not event.calculating:
            requested = Calculation(gap_window.request(before.gap, before.round_trip, event.segment_size))
        return PolicyResult(new, after.packed(), departure, requested)


POLICY = Hoe()
