# SPDX-License-Identifier: BSD-2-Clause-Patent
"""MISS with the connection's own round trip, as rtl/downbeat/congestion/startup/Miss.scala.

The host gives m = gamma/delta (8 fraction bits), the next expected drop (ns) and the largest window (segments). On
`established` n = floor(m (t_next - now) / R) is requested; the response sets cwnd = n segments, raises ssthresh to it,
and n segments leave R / n apart. Fewer than the initial window, or nothing known: slow start.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import miss_window
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
)
from sim.golden.congestion.slow_start import slow_start

NOT_KNOWN = (1 << 36) - 1  # a round trip
MAX_EARLY = 255


@dataclass(frozen=True)
class MissState(PackedFields):
    """The policy state, lowest field first."""

    rate: int
    next: int  # ns; in the flight the gap, ns with 8 fraction bits
    max_window: int  # segments; in the flight those that are still to leave
    early: int = 0  # segments that left before the response
    requesting: int = 0  # a flag, as the next
    pacing: int = 0

    FIELDS = (("rate", 24), ("next", 48), ("max_window", 16), ("early", 8), ("requesting", 1), ("pacing", 1))


def argument(rate: float, next_drop: int, max_window: int = miss_window.MAX_WINDOW) -> int:
    """The argument of a connection."""
    return MissState(round(rate * 256), next_drop, max_window).packed()


@dataclass(frozen=True)
class Miss:
    name: str = "miss"
    state: type[PackedFields] = MissState
    calculator: Calculator = field(default=miss_window.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = after = MissState.unpacked(policy_state)
        known = event.rtt_minimum != NOT_KNOWN
        new = slow_start(event, window)
        match event.kind:
            case Kind.ESTABLISHED:
                after = replace(before, requesting=known, pacing=False, early=0)
            case Kind.SENT:
                if before.requesting:
                    after = replace(after, early=min(before.early + 1, MAX_EARLY))
                if before.pacing and before.max_window:
                    after = replace(after, max_window=before.max_window - 1)
            case Kind.LOSS | Kind.TIMEOUT:
                after = replace(before, requesting=False, pacing=False)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup and before.requesting:
                after = replace(before, requesting=False)
                response = miss_window.Response.unpacked(event.calculated.response)
                if response.window >= max(event.initial_window, 1) and not event.calculated.stale:
                    jump = of_bytes(response.window * event.segment_size)
                    new = Window(jump, jump if window.ssthresh >> 16 < jump >> 16 else window.ssthresh)
                    left = response.window - before.early
                    after = replace(after, pacing=left > 0, max_window=left % (1 << 16), next=response.gap)
            case _:
                pass
        departure = Departure()
        if after.pacing and after.max_window:
            departure = Departure(Pace.APART, (after.next & (1 << 44) - 1) << 8)
        wanted = before.requesting and event.kind not in (Kind.CALCULATED, Kind.LOSS, Kind.TIMEOUT)
        requested = None
        if (wanted or event.kind is Kind.ESTABLISHED) and known and not event.calculating:
            requested = Calculation(self._request(before, event).packed())
        return PolicyResult(new, after.packed(), departure, requested)

    @staticmethod
    def _request(before: MissState, event: CongestionEvent) -> miss_window.Request:
        remaining = (before.next - event.now) % (1 << 48)
        if remaining >> 47:
            remaining = 0
        return miss_window.Request.at(before.rate, remaining, 0, event.rtt_minimum, before.max_window)


POLICY = Miss()
