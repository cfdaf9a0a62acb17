# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SPM: slow start with packet-pair measurements, as rtl/downbeat/congestion/startup/Spm.scala.

ssthresh = 32 segments; y0 from a pair back to back; then pairs with input gaps {y0, 1.5 y0, 2 y0, 4 y0}, 2 R / cwnd
from one to the next; from 12 samples on, cwnd having reached ssthresh, ssthresh = R / d
(golden/calculation/gap_fit.py). Growth min(N, 2 SMSS), after a loss min(N, SMSS). Argument: 1 inverts the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import gap_fit
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.packet_pairs import PacketPairs, ended, first_gap, measured
from sim.golden.congestion.seam import (
    FRACTION_BITS,
    Calculated,
    Calculation,
    Calculator,
    CongestionEvent,
    Departure,
    Kind,
    PolicyResult,
    Window,
    of_bytes,
    wrap,
)
from sim.golden.congestion.slow_start import slow_start

SAMPLES = 12
INITIAL_SSTHRESH = 32  # segments
HALF_GAPS = (2, 3, 4, 8)  # input gaps in y0 / 2
NONE = (1 << 36) - 1


@dataclass(frozen=True)
class SpmState(PackedFields):
    """The policy state, lowest field first."""

    inverted: int = 0  # a flag
    pairs: PacketPairs = field(default_factory=PacketPairs)
    first_gap: int = 0  # ns
    spacing: int = 0  # ns
    index: int = 0  # index of the input gap
    count: int = 0  # samples
    begun: int = 0  # a flag, as the next
    over: int = 0
    lost: int = 0

    FIELDS = (
        ("inverted", 1),
        ("pairs", PacketPairs),
        ("first_gap", 36),
        ("spacing", 36),
        ("index", 2),
        ("count", 4),
        ("begun", 1),
        ("over", 1),
        ("lost", 1),
    )


@dataclass(frozen=True)
class Spm:
    name: str = "spm"
    state: type[PackedFields] = SpmState
    calculator: Calculator = field(default=gap_fit.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = SpmState.unpacked(policy_state)
        inverted = bool(before.inverted)
        after = replace(before, pairs=before.pairs.after(event, inverted=inverted))
        new = slow_start(event, window, at_most=event.segment_size * (1 if before.lost else 2))
        completes = before.pairs.completed_by(event, inverted=inverted)
        if before.first_gap == 0:
            after = replace(after, first_gap=first_gap(event))
        elif completes:
            after = replace(after, index=(before.index + 1) % 4)
        match event.kind:
            case Kind.ESTABLISHED:
                after = SpmState(before.inverted, after.pairs)
                new = replace(new, ssthresh=of_bytes(INITIAL_SSTHRESH * event.segment_size))
            case Kind.LOSS | Kind.TIMEOUT:
                after = replace(after, over=True, lost=True)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup:
                after, new = _responded(event.calculated, after, new)
            case _:
                pass
        return PolicyResult(new, after.packed(), _departure(before, after, completes), _request(event, window, before))


def _responded(calculated: Calculated, policy_state: SpmState, window: Window) -> tuple[SpmState, Window]:
    value, holds = wrap(calculated.response, 36), calculated.response >> 36 & 1
    if calculated.note & 1:  # the estimate
        return replace(policy_state, over=True), replace(
            window, ssthresh=of_bytes(wrap(value, 32))
        ) if holds else window
    count = policy_state.count if policy_state.count == SAMPLES else wrap(policy_state.count + holds, 4)
    return replace(policy_state, begun=True, spacing=value, count=count), window


def _departure(before: SpmState, after: SpmState, completes: bool) -> Departure:
    if not after.pairs.ready or after.over or before.first_gap == 0 and after.pairs.left == 0:
        return Departure()
    gap = before.first_gap * HALF_GAPS[before.index]  # half ns, as the next
    last = gap if completes else before.first_gap * HALF_GAPS[before.index - 1]
    pause = max(2 * before.spacing - last, 0)
    half_ns = FRACTION_BITS - 1
    return after.pairs.departure(inverted=bool(before.inverted), pause=pause << half_ns, gap=gap << half_ns)


def _request(event: CongestionEvent, window: Window, policy_state: SpmState) -> Calculation | None:
    if policy_state.first_gap == 0 or event.rtt_minimum == NONE or policy_state.over or event.calculating:
        return None
    due = policy_state.count == SAMPLES and policy_state.begun and not event.starting_up
    if not (ended(event) or not policy_state.begun or due):
        return None
    request = gap_fit.Request(
        first_gap=policy_state.first_gap,
        departure_gap=event.probe.departure_gap if event.probe else 0,
        arrival_gap=event.probe.arrival_gap if event.probe else 0,
        round_trip=event.rtt_minimum,
        cwnd=window.cwnd >> FRACTION_BITS,
        segment_size=event.segment_size,
        begins=int(not policy_state.begun),
        sampled=int(measured(event)),
        estimates=int(due),
    )
    return Calculation(request.packed(), note=int(due))


POLICY = Spm()
