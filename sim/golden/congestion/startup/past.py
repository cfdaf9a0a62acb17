# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Paced Start, as rtl/downbeat/congestion/startup/Past.scala: trains of 2 to 32 segments that bisect the gap of the
path.

A train is saturated if its output gaps' sum is more than 67/64 of its input gaps': low = in, otherwise high = in; then
the gap is their mean, 2 in without a high. The first train that is not saturated ends it, or with `bisect` the train of
32. Then ssthresh = floor(R / gap) segments.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import gap_window
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.packet_pairs import NO_GAP, measured
from sim.golden.congestion.seam import (
    Calculation,
    Calculator,
    CongestionEvent,
    Departure,
    Kind,
    Pace,
    PolicyResult,
    Window,
    of_bytes,
    wrap,
)
from sim.golden.congestion.slow_start import slow_start

GAP_BITS = 36  # ns
SUM_BITS = GAP_BITS + 5
MAX_GAP = (1 << GAP_BITS) - 1
LAST = 5  # the last train has 2 to the power of this


@dataclass(frozen=True)
class PastState(PackedFields):
    """The policy state, lowest field first."""

    bisect: int = 0  # a flag
    train: int = 1
    position: int = 0  # segments of the train that have gone
    count: int = 0  # output gaps
    sum: int = 0  # sum of the output gaps, ns
    limit: int = 0  # ns
    gap: int = 0  # ns, as the next
    low: int = 0
    high: int = 0
    judged: int = 0  # a flag, as the next
    done: int = 0
    over: int = 0

    FIELDS = (
        ("bisect", 1),
        ("train", 3),
        ("position", 6),
        ("count", 5),
        ("sum", SUM_BITS),
        ("limit", SUM_BITS),
        ("gap", GAP_BITS),
        ("low", GAP_BITS),
        ("high", GAP_BITS),
        ("judged", 1),
        ("done", 1),
        ("over", 1),
    )

    @property
    def size(self) -> int:
        return wrap(1 << self.train, 6)

    @property
    def is_last(self) -> bool:
        """All of the last train has gone."""
        return self.train == LAST and self.position == self.size


@dataclass(frozen=True)
class Past:
    name: str = "past"
    state: type[PackedFields] = PastState
    calculator: Calculator = field(default=gap_window.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = PastState.unpacked(policy_state)
        scaled = before.gap + 3 * before.gap // 64
        after = replace(before, limit=wrap((scaled << before.train) - scaled, SUM_BITS))
        new = slow_start(event, window)
        if event.probe is not None:
            after = _acknowledged(event, before, after)
        match event.kind:
            case Kind.ESTABLISHED:
                after = PastState(before.bisect)
                new = replace(new, cwnd=of_bytes(2 * event.segment_size))
            case Kind.SENT:
                after = _sent(event, before, after)
            case Kind.ACKNOWLEDGED if event.probe is None and before.is_last and not before.done:
                after = replace(after, done=True, gap=before.high or after.gap)
            case Kind.LOSS | Kind.TIMEOUT:
                after = replace(after, over=True)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup:
                after = replace(after, over=True)
                new = replace(new, ssthresh=of_bytes(wrap(event.calculated.response, 31)))
            case _:
                pass
        requested = None
        known = event.rtt_minimum != CongestionEvent.rtt_minimum
        if before.done and not before.over and known and not event.calculating:
            requested = Calculation(gap_window.request(before.gap, event.rtt_minimum, event.segment_size))
        return PolicyResult(new, after.packed(), _departure(after), requested)


def _acknowledged(event: CongestionEvent, before: PastState, after: PastState) -> PastState:
    probe = event.probe
    if probe is None or not measured(event):
        return replace(after, count=0, sum=0) if probe is not None and probe.begins else after
    count, total = wrap(before.count + 1, 5), wrap(before.sum + probe.arrival_gap, SUM_BITS)
    if not before.judged:
        after = replace(after, count=count, sum=total)
    if before.judged or before.done or before.over or count != wrap(before.size - 1, 5):
        return after
    if before.train == 1:
        if probe.arrival_gap in NO_GAP or probe.arrival_gap > event.rtt_minimum:
            return after
        return replace(after, judged=True, low=probe.arrival_gap, gap=min(2 * probe.arrival_gap, MAX_GAP))
    return _judged(before, replace(after, judged=True), saturated=total > before.limit)


def _judged(before: PastState, after: PastState, *, saturated: bool) -> PastState:
    """A later train than the first has all its gaps."""
    used, is_last = before.gap, before.train == LAST
    if not saturated:
        if is_last or not before.bisect:
            return replace(after, high=used, gap=used, done=True)
        return replace(after, high=used, gap=(before.low + used) // 2)
    gap = (before.high + used) // 2 if before.high else min(2 * used, MAX_GAP)
    if is_last:
        return replace(after, low=used, gap=before.high or gap, done=True)
    return replace(after, low=used, gap=gap)


def _sent(event: CongestionEvent, before: PastState, after: PastState) -> PastState:
    if before.position != before.size:
        return replace(after, position=wrap(before.position + 1, 6)) if event.sent_probe else after
    if before.done:
        return after
    if before.train == 1 and not before.judged:
        after = replace(after, over=True)
    if before.train == LAST:
        return after
    return replace(after, train=(before.train + 1) % 8, position=int(event.sent_probe), judged=False)


def _departure(state: PastState) -> Departure:
    begins = state.position in (0, state.size)
    if state.over or state.done or state.is_last:
        return Departure()
    if begins:
        size = wrap(2 * state.size, 6) if state.position else state.size
        return Departure(Pace.APART, minimum_segments=size, probe=True, begins=True)
    pace = Pace.APART if state.train != 1 else Pace.ADJACENT
    return Departure(pace, state.gap << 16, probe=True)


POLICY = Past()
