# SPDX-License-Identifier: BSD-2-Clause-Patent
"""HyStart++ (RFC 9406), as rtl/downbeat/congestion/startup/Hystart.scala.

Growth min(N, 8 SMSS) for an ACK, a quarter of it in Conservative Slow Start (CSS). Rounds are counted in bytes: one
ends when the flight that it began with is acknowledged; where there was none the next ACK begins
one. The first 24 full segments that leave in a round are probes; eight round trips of a round make its minimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.byte_round import counted
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Departure, Kind, PolicyResult, Window, wrap
from sim.golden.congestion.slow_start import slow_start

NONE = (1 << 36) - 1  # ns: no sample
MILLISECOND = 1_000_000
MIN_RTT_THRESH, MAX_RTT_THRESH = 4 * MILLISECOND, 16 * MILLISECOND
CSS_ROUNDS = 5
BURST = 8  # L, segments
N_RTT_SAMPLE = 8
PROBES = 24  # in each round


@dataclass(frozen=True)
class HystartState(PackedFields):
    """The policy state, lowest field first."""

    left: int = 0  # bytes until the round ends
    current_round_min_rtt: int = NONE
    last_round_min_rtt: int = NONE
    css_baseline_min_rtt: int = NONE
    rtt_sample_count: int = 0
    probes: int = 0  # sent in this round
    css_rounds: int = 0
    conservative: int = 0  # a flag, as the next
    lost: int = 0

    FIELDS = (
        ("left", 32),
        ("current_round_min_rtt", 36),
        ("last_round_min_rtt", 36),
        ("css_baseline_min_rtt", 36),
        ("rtt_sample_count", 4),
        ("probes", 5),
        ("css_rounds", 3),
        ("conservative", 1),
        ("lost", 1),
    )


@dataclass(frozen=True)
class Hystart:
    name: str = "hystart"
    state: type[PackedFields] = HystartState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        state = HystartState.unpacked(policy_state)
        probing = event.starting_up and not state.lost
        bound = (1 if state.lost else BURST) * event.segment_size
        window = slow_start(event, window, at_most=bound, quartered=bool(state.conservative and not state.lost))
        match event.kind:
            case Kind.ESTABLISHED:
                state = HystartState()
            case Kind.LOSS | Kind.TIMEOUT:
                state = replace(state, lost=True)
            case Kind.ACKNOWLEDGED if probing:
                window, state = self._counted(event, window, state)
            case Kind.SENT if event.sent_probe and state.probes != PROBES:
                state = replace(state, probes=wrap(state.probes + 1, 5))
            case _:
                pass
        probing = probing and state.probes != PROBES
        return PolicyResult(window, state.packed(), Departure(probe=probing, begins=probing))

    @staticmethod
    def _counted(event: CongestionEvent, window: Window, state: HystartState) -> tuple[Window, HystartState]:
        ends, left = counted(event, state.left)
        sample = event.round_trip
        current = state.current_round_min_rtt if sample is None else min(state.current_round_min_rtt, sample)
        samples = wrap(state.rtt_sample_count + (sample is not None and state.rtt_sample_count != N_RTT_SAMPLE), 4)
        sampled = samples == N_RTT_SAMPLE and current != NONE
        rtt_thresh = min(max(state.last_round_min_rtt // 8, MIN_RTT_THRESH), MAX_RTT_THRESH)
        after = state
        if state.conservative:
            after = replace(after, css_rounds=(state.css_rounds + ends) % 8)
            if sampled and current < state.css_baseline_min_rtt:
                after = replace(after, conservative=False)
            elif ends and after.css_rounds == CSS_ROUNDS:
                window = replace(window, ssthresh=window.cwnd)
        elif sampled and state.last_round_min_rtt != NONE and current >= state.last_round_min_rtt + rtt_thresh:
            after = replace(after, conservative=True, css_baseline_min_rtt=current, css_rounds=int(ends))
        after = replace(after, left=left, current_round_min_rtt=current, rtt_sample_count=samples)
        if ends:
            after = replace(after, last_round_min_rtt=current, current_round_min_rtt=NONE, rtt_sample_count=0, probes=0)
        return window, after


POLICY = Hystart()
