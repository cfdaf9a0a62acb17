# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rapid Start (draft-kazuho-ccwg-rapid-start), as rtl/downbeat/congestion/startup/Rapid.scala.

The first window leaves over the handshake's round trip. cwnd += 2 N while the last sample is at most min(4 ms, a tenth)
above the smallest, else cwnd += N; after a loss RFC 5681's slow start.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import gap_window
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import (
    Calculation,
    Calculator,
    CongestionEvent,
    Departure,
    Kind,
    Pace,
    PolicyResult,
    Window,
    of_bytes,
    wrap,
)
from sim.golden.congestion.slow_start import slow_start

NONE = (1 << 36) - 1  # ns: no sample
MAX_RISE = 4_000_000  # ns
GAP_BITS = 31


@dataclass(frozen=True)
class RapidState(PackedFields):
    """The policy state, lowest field first."""

    rtt_floor: int = NONE  # ns
    gap: int = 0  # ns
    left: int = 0  # segments of the first window
    gap_known: int = 0  # a flag, as the next
    begun: int = 0
    lost: int = 0

    FIELDS = (("rtt_floor", 36), ("gap", GAP_BITS), ("left", 8), ("gap_known", 1), ("begun", 1), ("lost", 1))


def rise(minimum: int) -> int:
    """How far above the smallest round trip a path is without a queue, ns: a tenth, 4 ms at most."""
    tenth = (minimum >> 8) * 6554 >> 8
    return min(tenth, MAX_RISE)


@dataclass(frozen=True)
class Rapid:
    name: str = "rapid"
    state: type[PackedFields] = RapidState
    calculator: Calculator = field(default=gap_window.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = RapidState.unpacked(policy_state)
        after = before if event.rtt is None else replace(before, rtt_floor=event.rtt)
        new = slow_start(event, window)
        match event.kind:
            case Kind.ESTABLISHED if event.rtt is not None:
                after = RapidState(event.rtt, left=event.initial_window)
            case Kind.ESTABLISHED:
                after = RapidState()
            case Kind.ACKNOWLEDGED if not before.lost:
                queued = max(before.rtt_floor - event.rtt_minimum, 0)
                quick = before.rtt_floor != NONE and queued <= rise(event.rtt_minimum)
                grown = wrap(2 * event.acked_bytes, 32) if quick else event.acked_bytes
                new = replace(window, cwnd=wrap(window.cwnd + of_bytes(grown)))
            case Kind.SENT if before.left:
                after = replace(after, left=before.left - 1, begun=True)
            case Kind.LOSS | Kind.TIMEOUT:
                after = replace(after, lost=True, left=0)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup:
                after = replace(after, gap=wrap(event.calculated.response, GAP_BITS), gap_known=True)
            case _:
                pass
        requested = None
        if before.left and not before.gap_known and not event.calculating:
            requested = Calculation(gap_window.request(before.left, before.rtt_floor, 1))
        return PolicyResult(new, after.packed(), _departure(after), requested)


def _departure(state: RapidState) -> Departure:
    if not state.left:
        return Departure()
    if not state.begun:
        return Departure(Pace.APART)
    return Departure(Pace.APART, state.gap << 16) if state.gap_known else Departure(Pace.APART, minimum_segments=63)


POLICY = Rapid()
