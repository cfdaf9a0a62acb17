# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SSIPP, slow start with inverted packet pairs (Yu, thesis), as rtl/downbeat/congestion/startup/Ssipp.scala.

Windows of slow start, + SMSS for the ACK of a pair's first half; so much of what is acknowledged next brings nothing
more. Pairs from the second segment on, until something is lost, and again after a timeout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Departure, Kind, PolicyResult, Window, of_bytes, wrap
from sim.golden.congestion.slow_start import slow_start


@dataclass(frozen=True)
class SsippState(PackedFields):
    """The policy state, lowest field first."""

    begun: int = 0  # a flag, as the next
    lost: int = 0
    ahead: int = 0  # bytes that have grown the window and are not acknowledged yet

    FIELDS = (("begun", 1), ("lost", 1), ("ahead", 16))


@dataclass(frozen=True)
class Ssipp:
    name: str = "ssipp"
    state: type[PackedFields] = SsippState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        state = SsippState.unpacked(policy_state)
        new = window
        match event.kind:
            case Kind.ESTABLISHED:
                state, new = SsippState(), slow_start(event, window)
            case Kind.RESTART:
                new = slow_start(event, window)
            case Kind.SENT:
                state = replace(state, begun=1)
            case Kind.LOSS | Kind.TIMEOUT:
                state = replace(state, lost=int(event.kind is Kind.LOSS), ahead=0)
            case Kind.PAIRED:
                state = replace(state, ahead=event.segment_size if event.starting_up else state.ahead)
                new = replace(window, cwnd=wrap(window.cwnd + of_bytes(event.segment_size)))
            case Kind.ACKNOWLEDGED:
                new = slow_start(replace(event, acked_bytes=max(event.acked_bytes - state.ahead, 0)), window)
                state = replace(state, ahead=max(state.ahead - event.acked_bytes, 0))
            case _:
                pass
        departure = Departure(inverted=bool(state.begun and not state.lost and event.starting_up))
        return PolicyResult(new, state.packed(), departure)


POLICY = Ssipp()
