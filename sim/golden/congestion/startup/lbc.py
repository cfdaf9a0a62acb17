# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Slow start that counts bytes (RFC 3465, L = 2), as rtl/downbeat/congestion/startup/Lbc.scala.

On an ACK of N new bytes: cwnd += min(N, 2 SMSS); once something was lost cwnd += min(N, SMSS). Policy state: something
was lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window
from sim.golden.congestion.slow_start import slow_start


@dataclass(frozen=True)
class LbcState(PackedFields):
    """The policy state, lowest field first."""

    lost: int = 0  # a flag

    FIELDS = (("lost", 1),)


@dataclass(frozen=True)
class Lbc:
    name: str = "lbc"
    state: type[PackedFields] = LbcState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        after = slow_start(event, window, at_most=(1 if policy_state else 2) * event.segment_size)
        match event.kind:
            case Kind.ESTABLISHED:
                policy_state = 0
            case Kind.LOSS | Kind.TIMEOUT:
                policy_state = 1
            case _:
                pass
        return PolicyResult(after, policy_state)


POLICY = Lbc()
