# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reno (RFC 5681) by byte counting (RFC 3465), as rtl/downbeat/congestion/steady/Reno.scala.

On an ACK of N new bytes while cwnd >= ssthresh: credit += N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS, once.
On a loss: ssthresh = max(flight / 2, 2 SMSS), credit = 0. A restart takes the credit too. The policy state is the
credit.
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


@dataclass(frozen=True)
class RenoState(PackedFields):
    """The policy state, lowest field first."""

    credit: int = 0  # bytes acknowledged and not yet turned into window

    FIELDS = (("credit", 32),)


@dataclass(frozen=True)
class Reno:
    name: str = "reno"
    state: type[PackedFields] = RenoState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        match event.kind:
            case Kind.ESTABLISHED | Kind.RESTART:
                policy_state = 0
            case Kind.ACKNOWLEDGED if not event.starting_up:
                policy_state = wrap(policy_state + event.acked_bytes, RenoState.bits())
                whole = window.cwnd >> FRACTION_BITS
                if policy_state >= whole:
                    policy_state -= whole
                    window = replace(window, cwnd=wrap(window.cwnd + of_bytes(event.segment_size)))
            case Kind.LOSS | Kind.TIMEOUT:
                ssthresh = max(event.flight // 2, 2 * event.segment_size)
                window = replace(window, ssthresh=of_bytes(ssthresh))
                policy_state = 0
            case _:
                pass
        return PolicyResult(window, policy_state)


POLICY = Reno()
