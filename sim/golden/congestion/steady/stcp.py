# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Scalable TCP (Kelly 2003), as rtl/downbeat/congestion/steady/Stcp.scala.

On an ACK of N new bytes while cwnd >= ssthresh: cwnd += 655 / 65536 N. On a loss: ssthresh = max(flight - flight / 8, 2
SMSS). While cwnd <= 16 SMSS it is Reno. The policy state is Reno's credit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes, wrap
from sim.golden.congestion.steady import reno

INCREASE = 655  # 16 fraction bits
LEGACY = 16  # segments


@dataclass(frozen=True)
class Stcp:
    name: str = "stcp"
    state: type[PackedFields] = reno.RenoState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        plain = reno.POLICY.respond(event, window, policy_state)
        if window.cwnd <= of_bytes(LEGACY * event.segment_size):
            return plain
        match event.kind:
            case Kind.ACKNOWLEDGED if not event.starting_up:
                return PolicyResult(replace(window, cwnd=wrap(window.cwnd + INCREASE * event.acked_bytes)), 0)
            case Kind.LOSS | Kind.TIMEOUT:
                kept = max(event.flight - event.flight // 8, 2 * event.segment_size)
                return PolicyResult(replace(window, ssthresh=of_bytes(kept)), 0)
            case _:
                return plain


POLICY = Stcp()
