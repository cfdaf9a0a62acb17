# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Astart, adaptive start, as rtl/downbeat/congestion/startup/Astart.scala.

ssthresh = 32 segments; slow start; each estimate e = B RTTmin raises ssthresh to e until a loss, and again after a
timeout. Arguments: bwe, Astart-BWE, else Astart-ERE; slide, ERE by the slides' rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.adaptive_threshold import over_after, raised
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.slow_start import slow_start

INITIAL_SSTHRESH = 32  # segments


@dataclass(frozen=True)
class AstartState(PackedFields):
    """The policy state, lowest field first; flags."""

    bwe: int = 0
    slide: int = 0
    over: int = 0

    FIELDS = (("bwe", 1), ("slide", 1), ("over", 1))


@dataclass(frozen=True)
class Astart:
    name: str = "astart"
    state: type[PackedFields] = AstartState
    estimates_rates: bool = True

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = AstartState.unpacked(policy_state)
        new = slow_start(event, window)
        if event.kind is Kind.ESTABLISHED:
            new = replace(new, ssthresh=of_bytes(INITIAL_SSTHRESH * event.segment_size))
        elif event.kind is Kind.ESTIMATED:
            new = replace(new, ssthresh=raised(event, window, bwe=before.bwe, slide=before.slide, over=before.over))
        return PolicyResult(new, replace(before, over=over_after(event, before.over)).packed())


POLICY = Astart()
