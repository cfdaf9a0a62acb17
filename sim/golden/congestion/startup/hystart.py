# SPDX-License-Identifier: BSD-2-Clause-Patent
"""HyStart++ (RFC 9406), as rtl/downbeat/congestion/startup/Hystart.scala.

Growth min(N, 8 SMSS) for an ACK, a quarter of it in Conservative Slow Start (CSS). Rounds are counted in bytes: one
ends when the flight that it began with is acknowledged; where there was none the next ACK begins
one. Full segments are probes; eight round trips of a round make its minimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import Answer, CongestionEvent, Departure, Kind, Window, wrap
from sim.golden.congestion.slow_start import slow_start

NONE = (1 << 36) - 1  # ns: no sample
MILLISECOND = 1_000_000
LEAST_RISE, MOST_RISE = 4 * MILLISECOND, 16 * MILLISECOND
CSS_ROUNDS = 5
BURST = 8  # L, segments
SAMPLES = 8  # N_RTT_SAMPLE


@dataclass(frozen=True)
class Rounds(PackedFields):
    """The policy state, lowest field first."""

    left: int = 0  # bytes until the round ends
    current: int = NONE
    last: int = NONE
    baseline: int = NONE
    samples: int = 0  # of the round
    rounds: int = 0
    conservative: int = 0  # a flag, as the next
    lost: int = 0

    FIELDS = (
        ("left", 32),
        ("current", 36),
        ("last", 36),
        ("baseline", 36),
        ("samples", 4),
        ("rounds", 3),
        ("conservative", 1),
        ("lost", 1),
    )


@dataclass(frozen=True)
class Hystart:
    name: str = "hystart"
    state_bits: int = Rounds.bits()

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        state = Rounds.unpacked(policy_state)
        probes = event.starting_up and not state.lost
        departure = Departure(probe=probes, begins=probes)
        bound = (1 if state.lost else BURST) * event.segment_size
        window = slow_start(event, window, at_most=bound, quartered=bool(state.conservative and not state.lost))
        match event.kind:
            case Kind.ESTABLISHED:
                state = Rounds()
            case Kind.LOSS | Kind.TIMEOUT:
                state = replace(state, lost=True)
            case Kind.ACKNOWLEDGED if event.starting_up and not state.lost:
                window, state = self._counted(event, window, state)
            case _:
                pass
        return Answer(window, state.packed(), departure)

    @staticmethod
    def _counted(event: CongestionEvent, window: Window, state: Rounds) -> tuple[Window, Rounds]:
        reached = event.acked_bytes >= state.left
        ends = reached and state.left > 0
        sample = event.probe.round_trip if event.probe is not None else event.rtt
        current = state.current if sample is None else min(state.current, sample)
        samples = wrap(state.samples + (sample is not None and state.samples != SAMPLES), 4)
        sampled = samples == SAMPLES and current != NONE
        rise = min(max(state.last // 8, LEAST_RISE), MOST_RISE)
        after = state
        if state.conservative:
            after = replace(after, rounds=(state.rounds + ends) % 8)
            if sampled and current < state.baseline:
                after = replace(after, conservative=False)
            elif ends and after.rounds == CSS_ROUNDS:
                window = replace(window, ssthresh=window.cwnd)
        elif sampled and state.last != NONE and current >= state.last + rise:
            after = replace(after, conservative=True, baseline=current, rounds=int(ends))
        left = wrap((event.flight if reached else state.left) - event.acked_bytes, 32)
        after = replace(after, left=left, current=current, samples=samples)
        if ends:
            after = replace(after, last=current, current=NONE, samples=0)
        return window, after


POLICY = Hystart()
