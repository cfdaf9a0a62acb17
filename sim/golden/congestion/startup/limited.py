# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Limited slow start (RFC 3742, max_ssthresh = 100 SMSS), as rtl/downbeat/congestion/startup/Limited.scala.

Beyond max_ssthresh: credit += min(N, SMSS); if credit >= K SMSS: credit -= K SMSS, cwnd += SMSS. K goes up by one where
cwnd has reached the next multiple of max_ssthresh / 2, once for an event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import (
    FRACTION_BITS,
    CongestionEvent,
    Kind,
    PolicyResult,
    Window,
    of_bytes,
    wrap,
)
from sim.golden.congestion.slow_start import slow_start

MAXIMUM = 100  # max_ssthresh, segments


@dataclass(frozen=True)
class LimitedState(PackedFields):
    """The policy state, lowest field first; bytes."""

    credit: int = 0
    price: int = 0  # K SMSS
    bound: int = 0  # the window at which K goes up

    FIELDS = (("credit", 32), ("price", 32), ("bound", 32))


@dataclass(frozen=True)
class Limited:
    name: str = "limited"
    state: type[PackedFields] = LimitedState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        segment = event.segment_size
        match event.kind:
            case Kind.ESTABLISHED | Kind.LOSS | Kind.TIMEOUT:
                after = LimitedState(0, 2 * segment, MAXIMUM * 3 // 2 * segment)
                return PolicyResult(slow_start(event, window), after.packed())
            case Kind.ACKNOWLEDGED if event.starting_up and window.cwnd > of_bytes(MAXIMUM * segment):
                return self._limited(event, window, LimitedState.unpacked(policy_state))
            case _:
                return PolicyResult(slow_start(event, window), policy_state)

    @staticmethod
    def _limited(event: CongestionEvent, window: Window, before: LimitedState) -> PolicyResult:
        credit, price, bound = before.credit, before.price, before.bound
        if window.cwnd >> FRACTION_BITS >= bound:
            price = wrap(price + event.segment_size, 32)
            bound = wrap(bound + MAXIMUM // 2 * event.segment_size, 32)
        credit = wrap(credit + min(event.acked_bytes, event.segment_size), 32)
        if credit >= price:
            credit -= price
            window = replace(window, cwnd=wrap(window.cwnd + of_bytes(event.segment_size)))
        return PolicyResult(window, LimitedState(credit, price, bound).packed())


POLICY = Limited()
