# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A paced flight (Yu, thesis, 2.2), as rtl/downbeat/congestion/startup/Paced.scala.

The first `count` segments leave `gap` apart, from a window of so many; then slow start. Argument: count, 16 bits; gap,
52 bits, ns with 16 fraction bits; burst, 2 bits: the gap is a token bucket of 2^burst segments, from the first segment
on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Departure, Kind, Pace, PolicyResult, Window, of_bytes
from sim.golden.congestion.slow_start import slow_start


@dataclass(frozen=True)
class PacedState(PackedFields):
    """The policy state, lowest field first."""

    count: int  # segments that have not left
    gap: int  # ns, 16 fraction bits
    burst: int
    begun: int = 0  # a segment has left

    FIELDS = (("count", 16), ("gap", 52), ("burst", 2), ("begun", 1))


def argument(count: int, gap_ns: float, burst: int = 0) -> int:
    """The argument of a connection."""
    return PacedState(count, round(gap_ns * 2**16), burst).packed()


@dataclass(frozen=True)
class Paced:
    name: str = "paced"
    state: type[PackedFields] = PacedState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        state = PacedState.unpacked(policy_state)
        after = slow_start(event, window)
        match event.kind:
            case Kind.ESTABLISHED:
                state = replace(state, begun=0)
                flight = (state.count * event.segment_size) % 2**32
                if flight >= event.initial_window * event.segment_size:
                    after = replace(after, cwnd=of_bytes(flight))
            case Kind.SENT if state.count:
                state = replace(state, begun=1, count=state.count - 1)
            case Kind.LOSS | Kind.TIMEOUT:
                state = replace(state, count=0)
            case _:
                pass
        departure = Departure()
        if state.count:
            departure = Departure(Pace.APART, state.gap if state.begun or state.burst else 0, state.burst)
        return PolicyResult(after, state.packed(), departure)


POLICY = Paced()
