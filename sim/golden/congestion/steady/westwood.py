# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP Westwood, as rtl/downbeat/congestion/steady/Westwood.scala.

A loss or a timeout leaves ssthresh = max(B RTTmin, 2 SMSS), B the estimated rate; Reno's where there is no estimate.
Growth is Reno's. Arguments: bwe takes BWE, else B is ERE; slide takes ERE by the slides' rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.adaptive_threshold import chosen
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.steady import reno


@dataclass(frozen=True)
class WestwoodState(PackedFields):
    """The policy state, lowest field first."""

    bwe: int = 0  # a flag, as the next
    slide: int = 0
    credit: int = 0  # Reno's

    FIELDS = (("bwe", 1), ("slide", 1), ("credit", reno.RenoState.bits()))


@dataclass(frozen=True)
class Westwood:
    name: str = "westwood"
    state: type[PackedFields] = WestwoodState
    estimates_rates: bool = True

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = WestwoodState.unpacked(policy_state)
        plain = reno.POLICY.respond(event, window, before.credit)
        new, estimate = plain.window, chosen(event, bwe=before.bwe, slide=before.slide)
        if event.kind in (Kind.LOSS, Kind.TIMEOUT) and estimate:
            new = replace(new, ssthresh=of_bytes(max(estimate, 2 * event.segment_size)))
        return PolicyResult(new, replace(before, credit=plain.policy_state).packed())


POLICY = Westwood()
