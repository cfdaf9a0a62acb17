# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Packet pairs by command, as rtl/downbeat/congestion/startup/Pairs.scala.

Argument: gap, 52 bits, ns with 16 fraction bits; pause, 36 bits, ns, from a pair's second to the next one's first;
inverted, one bit.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.golden.congestion.seam import Answer, CongestionEvent, Departure, Kind, Pace, Window
from sim.golden.congestion.slow_start import slow_start

GAP_BITS, PAUSE_BITS = 52, 36
ARGUMENT_BITS = GAP_BITS + PAUSE_BITS + 1


def argument(gap_ns: float, pause_ns: int, *, inverted: bool = False) -> int:
    """What a connection is opened with."""
    return (int(inverted) << PAUSE_BITS | pause_ns) << GAP_BITS | round(gap_ns * 2**16)


@dataclass(frozen=True)
class Pairs:
    name: str = "pairs"
    state_bits: int = ARGUMENT_BITS + 1

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        second = bool(policy_state >> ARGUMENT_BITS)
        given = policy_state & (1 << ARGUMENT_BITS) - 1
        gap = given & (1 << GAP_BITS) - 1
        pause = given >> GAP_BITS & (1 << PAUSE_BITS) - 1
        inverted = bool(given >> ARGUMENT_BITS - 1)
        match event.kind:
            case Kind.ESTABLISHED | Kind.LOSS | Kind.TIMEOUT:
                second = False
            case Kind.SENT:
                second = event.sent_probe and (event.sent_ahead if inverted else not second)
            case _:
                pass
        if second:
            departure = Departure(Pace.APART if gap else Pace.ADJACENT, gap, inverted=inverted, probe=True)
        else:
            departure = Departure(
                Pace.APART, pause << 16, inverted=inverted, minimum_segments=2, probe=True, begins=True
            )
        return Answer(slow_start(event, window), second << ARGUMENT_BITS | given, departure)


POLICY = Pairs()
