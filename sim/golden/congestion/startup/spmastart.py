# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SPM, then Astart, as rtl/downbeat/congestion/startup/Spmastart.scala.

SPM's estimate sets ssthresh; from then on e = B RTTmin raises it until a loss. Before, e counts only where cwnd has
reached ssthresh and SPM lacks samples. Arguments: bwe and slide (Astart's), inverted (SPM's).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.congestion.adaptive_threshold import over_after, raised
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import Calculator, CongestionEvent, Kind, PolicyResult, Window
from sim.golden.congestion.startup.spm import POLICY as SPM
from sim.golden.congestion.startup.spm import SAMPLES, SpmState


@dataclass(frozen=True)
class SpmastartState(PackedFields):
    """The policy state, lowest field first."""

    bwe: int = 0  # a flag, as the next
    slide: int = 0
    spm: SpmState = field(default_factory=SpmState)
    ended: int = 0  # a flag

    FIELDS = (("bwe", 1), ("slide", 1), ("spm", SpmState), ("ended", 1))


@dataclass(frozen=True)
class Spmastart:
    name: str = "spmastart"
    state: type[PackedFields] = SpmastartState
    estimates_rates: bool = True
    calculator: Calculator = field(default=SPM.calculator)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = SpmastartState.unpacked(policy_state)
        plain = SPM.respond(event, window, before.spm.packed())
        new, complete = plain.window, before.spm.count == SAMPLES
        if event.kind is Kind.ESTIMATED and (before.spm.over or not (event.starting_up or complete)):
            new = replace(new, ssthresh=raised(event, window, bwe=before.bwe, slide=before.slide, over=before.ended))
        after = replace(before, spm=SpmState.unpacked(plain.policy_state), ended=over_after(event, before.ended))
        return replace(plain, window=new, policy_state=after.packed())


POLICY = Spmastart()
