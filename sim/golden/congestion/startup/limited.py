# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Limited slow start (RFC 3742, max_ssthresh = 100 SMSS), as rtl/downbeat/congestion/startup/Limited.scala.

Beyond max_ssthresh: credit += min(N, SMSS); if credit >= K SMSS: credit -= K SMSS, cwnd += SMSS. K goes up by one where
cwnd has reached the next multiple of max_ssthresh / 2, once for an event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.seam import (
    FRACTION_BITS,
    Answer,
    CongestionEvent,
    Kind,
    Window,
    of_bytes,
    wrap,
)
from sim.golden.congestion.slow_start import slow_start

MAXIMUM = 100  # max_ssthresh, segments


def packed(credit: int, spent: int, bound: int) -> int:
    """The policy state: credit, K SMSS, and the window at which K goes up; bytes."""
    return (bound << 32 | spent) << 32 | credit


@dataclass(frozen=True)
class Limited:
    name: str = "limited"
    state_bits: int = 96

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        segment = event.segment_size
        match event.kind:
            case Kind.ESTABLISHED | Kind.LOSS | Kind.TIMEOUT:
                return Answer(slow_start(event, window), packed(0, 2 * segment, MAXIMUM * 3 // 2 * segment))
            case Kind.ACKNOWLEDGED if event.starting_up and window.cwnd > of_bytes(MAXIMUM * segment):
                return self._limited(event, window, policy_state)
            case _:
                return Answer(slow_start(event, window), policy_state)

    @staticmethod
    def _limited(event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        credit, spent, bound = (wrap(policy_state >> place, 32) for place in (0, 32, 64))
        if window.cwnd >> FRACTION_BITS >= bound:
            spent = wrap(spent + event.segment_size, 32)
            bound = wrap(bound + MAXIMUM // 2 * event.segment_size, 32)
        credit = wrap(credit + min(event.acked_bytes, event.segment_size), 32)
        if credit >= spent:
            credit -= spent
            window = replace(window, cwnd=wrap(window.cwnd + of_bytes(event.segment_size)))
        return Answer(window, packed(credit, spent, bound))


POLICY = Limited()
