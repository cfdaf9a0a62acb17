# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A paced flight (Yu, thesis, 2.2), as rtl/downbeat/congestion/startup/Paced.scala.

The first `count` segments leave `gap` apart, from a window of so many; then slow start. Argument: count, 16 bits; gap, 52 bits,
ns with 16 fraction bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.seam import Answer, CongestionEvent, Departure, Kind, Pace, Window, of_bytes
from sim.golden.congestion.slow_start import slow_start

COUNT_BITS, GAP_BITS = 16, 52


def argument(count: int, gap_ns: float) -> int:
    """What a connection is opened with."""
    return round(gap_ns * 2**16) << COUNT_BITS | count


@dataclass(frozen=True)
class Paced:
    name: str = "paced"
    state_bits: int = COUNT_BITS + GAP_BITS + 1

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        count = policy_state & (1 << COUNT_BITS) - 1
        gap = policy_state >> COUNT_BITS & (1 << GAP_BITS) - 1
        begun = bool(policy_state >> COUNT_BITS + GAP_BITS)
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
        departure = Departure(Pace.APART, gap if begun else 0) if count else Departure()
        return Answer(after, (begun << GAP_BITS | gap) << COUNT_BITS | count, departure)


POLICY = Paced()
