# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A paced flight (Yu, thesis, 2.2), as rtl/downbeat/congestion/startup/Paced.scala.

The first `count` segments leave `gap` apart, from a window of so many; then slow start. Argument: count, 16 bits; gap,
52 bits, ns with 16 fraction bits; burst, 2 bits: the gap is a token bucket of 2^burst segments, from the first segment
on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.seam import Answer, CongestionEvent, Departure, Kind, Pace, Window, of_bytes
from sim.golden.congestion.slow_start import slow_start

COUNT_BITS, GAP_BITS, BURST_BITS = 16, 52, 2


def argument(count: int, gap_ns: float, burst: int = 0) -> int:
    """What a connection is opened with."""
    return (burst << GAP_BITS | round(gap_ns * 2**16)) << COUNT_BITS | count


@dataclass(frozen=True)
class Paced:
    name: str = "paced"
    state_bits: int = COUNT_BITS + GAP_BITS + BURST_BITS + 1

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        count = policy_state & (1 << COUNT_BITS) - 1
        gap = policy_state >> COUNT_BITS & (1 << GAP_BITS) - 1
        burst = policy_state >> COUNT_BITS + GAP_BITS & (1 << BURST_BITS) - 1
        begun = bool(policy_state >> COUNT_BITS + GAP_BITS + BURST_BITS)
        after = slow_start(event, window)
        match event.kind:
            case Kind.ESTABLISHED:
                begun = False
                flight = (count * event.segment_size) % 2**32
                if flight >= event.initial_window * event.segment_size:
                    after = replace(after, cwnd=of_bytes(flight))
            case Kind.SENT if count:
                begun = True
                count -= 1
            case Kind.LOSS | Kind.TIMEOUT:
                count = 0
            case _:
                pass
        departure = Departure(Pace.APART, gap if begun or burst else 0, burst) if count else Departure()
        state = ((begun << BURST_BITS | burst) << GAP_BITS | gap) << COUNT_BITS | count
        return Answer(after, state, departure)


POLICY = Paced()
