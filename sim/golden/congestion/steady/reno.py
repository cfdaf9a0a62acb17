# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reno (RFC 5681) by byte counting (RFC 3465), as rtl/downbeat/congestion/steady/Reno.scala.

On an ACK of N new bytes while cwnd >= ssthresh: credit += N; if credit >= cwnd: credit -= cwnd, cwnd += SMSS, once.
On a loss: ssthresh = max(flight / 2, 2 SMSS), credit = 0. The policy state is the credit.
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


@dataclass(frozen=True)
class Reno:
    name: str = "reno"
    state_bits: int = 32

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        match event.kind:
            case Kind.ESTABLISHED:
                policy_state = 0
            case Kind.ACKNOWLEDGED if not event.starting_up:
                policy_state = wrap(policy_state + event.acked_bytes, self.state_bits)
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
        return Answer(window, policy_state)


POLICY = Reno()
