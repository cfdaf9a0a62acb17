# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CUBIC (RFC 9438), as rtl/downbeat/congestion/steady/Cubic.scala.

The window's growth is calculated (golden/calculation/cubic_growth.py) from the bytes acknowledged so far; what is
acknowledged meanwhile waits. Time is in ticks of 1,024 ns, and only what passes while the window is in use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.calculation.cubic_growth import (
    BYTE_BITS,
    CALCULATOR,
    DISTANCE_BITS,
    MOST_ACKED,
    WINDOW_BITS,
    CubicGrowth,
    Growth,
    Request,
)
from sim.golden.congestion.additive_increase import decreased, remainder
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import Answer, Calculation, CongestionEvent, Kind, Window, wrap

WAITS, BEGINS, GROWS = range(3)
DECREASE, CONVERGENCE = 19661, 9831  # 0.3 and 0.15, 16 fraction bits
TICK_SHIFT = 10  # ns
ROUND_TRIP_BITS = 26


@dataclass(frozen=True)
class State(PackedFields):
    """The policy state, lowest field first."""

    maximum: int = 0  # W_max, bytes
    prior: int = 0  # cwnd before the loss, bytes
    distance: int = 0  # t - K, ticks; before K is known t
    last: int = 0  # ticks, when time was last counted
    estimate: int = 0  # W_est, bytes with 16 fraction bits
    acked: int = 0  # bytes that are not accounted for
    round_trip: int = 0  # ticks, smoothed
    phase: int = WAITS

    FIELDS = (
        ("maximum", BYTE_BITS),
        ("prior", BYTE_BITS),
        ("distance", DISTANCE_BITS),
        ("last", 30),
        ("estimate", WINDOW_BITS),
        ("acked", 30),
        ("round_trip", ROUND_TRIP_BITS),
        ("phase", 2),
    )

    @classmethod
    def unpacked(cls, policy_state: int) -> State:
        state = super().unpacked(policy_state)
        return replace(state, distance=_signed(state.distance))


@dataclass(frozen=True)
class Cubic:
    name: str = "cubic"
    state_bits: int = State.bits()
    calculator: CubicGrowth = CALCULATOR

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        before = State.unpacked(policy_state)
        state = replace(before, round_trip=_round_trip(event, before))
        calculation = None
        whole = _most(window.cwnd >> 16, BYTE_BITS)
        match event.kind:
            case Kind.ESTABLISHED:
                state = State(last=state.last, round_trip=state.round_trip if event.rtt is not None else 0)
            case Kind.ACKNOWLEDGED if event.starting_up:
                state = replace(state, phase=WAITS, acked=0, last=_ticks(event))
            case Kind.ACKNOWLEDGED:
                busy = window.cwnd >> 16 <= 2 * event.flight
                state = _avoiding(event, window, state, busy)
                if not event.calculating:
                    calculation = _asked(event, window, before, state, busy)
            case Kind.SENT if event.flight == 0:
                state = replace(state, last=_ticks(event))
            case Kind.LOSS | Kind.TIMEOUT:
                window = replace(window, ssthresh=decreased(event, DECREASE))
                maximum = remainder(whole, CONVERGENCE) if whole < state.maximum else whole
                maximum = 0 if event.kind is Kind.TIMEOUT else maximum
                state = replace(state, phase=WAITS, acked=0, prior=whole, maximum=maximum)
            case Kind.CALCULATED:
                window, state = _calculated(event, window, state)
            case _:
                pass
        return Answer(window, state.packed(), calculation=calculation)


def _avoiding(event: CongestionEvent, window: Window, state: State, busy: bool) -> State:
    now = _ticks(event)
    after = replace(state, last=now)
    if busy:
        passed = (now - state.last) % (1 << 30)
        distance = min(state.distance + passed, (1 << DISTANCE_BITS - 1) - 1)
        after = replace(after, acked=_most(state.acked + event.acked_bytes, 30), distance=distance)
    if state.phase == WAITS:
        whole = _most(window.cwnd >> 16, BYTE_BITS)
        after = replace(after, distance=0, estimate=_most(window.cwnd, WINDOW_BITS), phase=BEGINS)
        if whole >= state.maximum:
            after = replace(after, maximum=whole, phase=GROWS)
    return after


def _asked(event: CongestionEvent, window: Window, before: State, state: State, busy: bool) -> Calculation | None:
    # Of whole requests the RTL asks the sum, before it is known whether the window is in use.
    acked = min(_most(before.acked + event.acked_bytes, 30), MOST_ACKED)
    root = state.phase == BEGINS
    if not root and not (before.phase == GROWS and busy and acked):
        return None
    request = Request(
        root=int(root),
        reno=int(before.estimate >> 16 >= before.prior),
        segment_size=event.segment_size,
        acked=acked,
        round_trip=state.round_trip,
        distance=state.distance,
        maximum=state.maximum,
        cwnd=_most(window.cwnd, WINDOW_BITS),
        estimate=state.estimate,
    )
    return Calculation(request.packed(), 0 if root else acked)


def _calculated(event: CongestionEvent, window: Window, state: State) -> tuple[Window, State]:
    told = event.calculated
    if told is None or told.of_startup:
        return window, state
    if told.note == 0:
        if state.phase != BEGINS or told.stale:
            return window, state
        distance = _signed(wrap(state.distance - (told.answer & (1 << 29) - 1), DISTANCE_BITS))
        return window, replace(state, distance=distance, phase=GROWS)
    if state.phase != GROWS:
        return window, state
    growth = Growth.unpacked(told.answer)
    estimate = _most(state.estimate + growth.estimated, WINDOW_BITS)
    cwnd = max(window.cwnd, estimate) if growth.friendly else wrap(window.cwnd + growth.increase)
    window = replace(window, cwnd=cwnd)
    if told.stale:
        return window, state
    return window, replace(state, estimate=estimate, acked=max(state.acked - (told.note & (1 << 30) - 1), 0))


def _round_trip(event: CongestionEvent, state: State) -> int:
    """Smoothed with 1/8 (RFC 6298)."""
    if event.rtt is None:
        return state.round_trip
    sample = event.rtt >> TICK_SHIFT
    if state.round_trip == 0 or event.kind is Kind.ESTABLISHED:
        return sample
    return state.round_trip + (sample - state.round_trip >> 3)


def _ticks(event: CongestionEvent) -> int:
    return event.now >> TICK_SHIFT & (1 << 30) - 1


def _most(value: int, bits: int) -> int:
    return min(value, (1 << bits) - 1)


def _signed(value: int) -> int:
    return value - (1 << DISTANCE_BITS) if value >> DISTANCE_BITS - 1 else value


POLICY = Cubic()
