# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Slow start that counts bytes (RFC 3465, L = 2), as rtl/downbeat/congestion/startup/Lbc.scala.

On an ACK of N new bytes: cwnd += min(N, 2 SMSS); once something was lost cwnd += min(N, SMSS). Policy state: something
was lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.golden.congestion.seam import Answer, CongestionEvent, Kind, Window
from sim.golden.congestion.slow_start import slow_start


@dataclass(frozen=True)
class Lbc:
    name: str = "lbc"
    state_bits: int = 1

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        after = slow_start(event, window, at_most=(1 if policy_state else 2) * event.segment_size)
        match event.kind:
            case Kind.ESTABLISHED:
                policy_state = 0
            case Kind.LOSS | Kind.TIMEOUT:
                policy_state = 1
            case _:
                pass
        return Answer(after, policy_state)


POLICY = Lbc()
