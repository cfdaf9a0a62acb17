# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Streams of probes for inline measurement, as rtl/downbeat/congestion/steady/InlineStream.scala."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.calculation.inline_measurement import PROBES
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import CongestionEvent, Departure, Kind, Pace, Window, of_bytes, wrap

NANOSECOND = 1 << 16  # in the unit of a departure's time


@dataclass(frozen=True)
class State(PackedFields):
    """The state of a stream."""

    position: int = 0  # segments of it that have left
    gap: int = 0  # ns, from the latest segment to the next
    odd: int = 0  # an odd number of segments is in flight
    repairs: int = 0  # a loss has not been repaired yet

    FIELDS = (("position", 5), ("gap", 32), ("odd", 1), ("repairs", 1))


def after(event: CongestionEvent, state: State) -> State:
    if event.kind is Kind.ESTABLISHED:
        return State()
    match event.kind:
        case Kind.SENT:
            state = replace(_sent(event, state), odd=1 if event.flight == 0 else state.odd ^ 1)
        case Kind.ACKNOWLEDGED:
            state = replace(state, repairs=0, odd=state.odd ^ (event.acked_bytes == event.segment_size))
        case Kind.LOSS | Kind.TIMEOUT:
            state = replace(state, repairs=1, position=0)
    return state if event.inline.valid else replace(state, position=0)


def _sent(event: CongestionEvent, state: State) -> State:
    if state.position == 0:
        return replace(state, position=1, gap=event.inline.gap) if event.sent_probe else state
    if event.sent_probe != _is_probe(event, state):
        return replace(state, position=0)
    gap = wrap(state.gap - event.inline.step, 32) if event.sent_probe else state.gap
    return replace(state, position=wrap(state.position + 1, 5), gap=gap)


def _is_probe(event: CongestionEvent, state: State) -> bool:
    return not event.inline.alternate or state.position % 2 == 0


def departure(event: CongestionEvent, window: Window, state: State) -> Departure:
    """How the next segment leaves; `state` is the one after the event."""
    alternate = event.inline.alternate
    if not event.inline.valid:
        return Departure()
    if state.position == 0:
        minimum = (20 if alternate else 12) * event.segment_size
        if window.cwnd < of_bytes(minimum) or state.repairs or alternate and not state.odd:
            return Departure()
        return Departure(
            Pace.APART,
            event.inline.gap * NANOSECOND,
            minimum_segments=2 * PROBES - 1 if alternate else PROBES,
            probe=True,
            begins=True,
        )
    last = state.position >= 2 * PROBES - 3 if alternate else state.position == PROBES - 1
    if last or state.gap == 0:
        return Departure(Pace.ADJACENT, probe=_is_probe(event, state))
    return Departure(Pace.APART, state.gap * NANOSECOND, probe=_is_probe(event, state))
