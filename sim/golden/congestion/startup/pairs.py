# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Packet pairs by command, as rtl/downbeat/congestion/startup/Pairs.scala.

Argument: gap, 52 bits, ns with 16 fraction bits; pause, 36 bits, ns, from a pair's second to the next one's first;
inverted, one bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Departure, Kind, Pace, PolicyResult, Window
from sim.golden.congestion.slow_start import slow_start


@dataclass(frozen=True)
class PairsState(PackedFields):
    """The policy state, lowest field first."""

    gap: int  # ns, 16 fraction bits
    pause: int  # ns
    inverted: int  # a flag, as the next
    second: int = 0  # the next segment is the second of its pair

    FIELDS = (("gap", 52), ("pause", 36), ("inverted", 1), ("second", 1))


def argument(gap_ns: float, pause_ns: int, *, inverted: bool = False) -> int:
    """The argument of a connection."""
    return PairsState(round(gap_ns * 2**16), pause_ns, inverted).packed()


@dataclass(frozen=True)
class Pairs:
    name: str = "pairs"
    state: type[PackedFields] = PairsState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        state = PairsState.unpacked(policy_state)
        inverted = bool(state.inverted)
        match event.kind:
            case Kind.ESTABLISHED | Kind.LOSS | Kind.TIMEOUT:
                state = replace(state, second=0)
            case Kind.SENT:
                second = event.sent_probe and (event.sent_ahead if inverted else not state.second)
                state = replace(state, second=second)
            case _:
                pass
        if state.second:
            pace = Pace.APART if state.gap else Pace.ADJACENT
            departure = Departure(pace, state.gap, inverted=inverted, probe=True)
        else:
            departure = Departure(
                Pace.APART, state.pause << 16, inverted=inverted, minimum_segments=2, probe=True, begins=True
            )
        return PolicyResult(slow_start(event, window), state.packed(), departure)


POLICY = Pairs()
