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
    MAX_ACKED,
    T_MINUS_K_BITS,
    WINDOW_BITS,
    CubicGrowth,
    Growth,
    Request,
)
from sim.golden.congestion.additive_increase import decreased, remainder
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import Calculation, CongestionEvent, Kind, PolicyResult, Window, wrap

WAITS, BEGINS, GROWS = range(3)
DECREASE, CONVERGENCE = 19661, 9831  # 0.3 and 0.15, 16 fraction bits
TICK_SHIFT = 10  # ns
ROUND_TRIP_BITS = 26


@dataclass(frozen=True)
class CubicState(PackedFields):
    """The policy state, lowest field first."""

    w_max: int = 0  # bytes
    cwnd_prior: int = 0  # bytes
    t_minus_k: int = 0  # ticks; before K is known t
    counted_at: int = 0  # ticks, when time was last counted
    w_est: int = 0  # bytes with 16 fraction bits
    acked: int = 0  # bytes that are not accounted for
    round_trip: int = 0  # ticks, smoothed
    phase: int = WAITS

    FIELDS = (
        ("w_max", BYTE_BITS),
        ("cwnd_prior", BYTE_BITS),
        ("t_minus_k", T_MINUS_K_BITS),
        ("counted_at", 30),
        ("w_est", WINDOW_BITS),
        ("acked", 30),
        ("round_trip", ROUND_TRIP_BITS),
        ("phase", 2),
    )

    @classmethod
    def unpacked(cls, policy_state: int) -> CubicState:
        state = super().unpacked(policy_state)
        return replace(state, t_minus_k=_signed(state.t_minus_k))


@dataclass(frozen=True)
class Cubic:
    name: str = "cubic"
    state: type[PackedFields] = CubicState
    calculator: CubicGrowth = CALCULATOR

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = CubicState.unpacked(policy_state)
        state = replace(before, round_trip=_round_trip(event, before))
        calculation = None
        whole = _saturated(window.cwnd >> 16, BYTE_BITS)
        match event.kind:
            case Kind.ESTABLISHED:
                state = CubicState(
                    counted_at=state.counted_at, round_trip=state.round_trip if event.first_rtt is not None else 0
                )
            case Kind.ACKNOWLEDGED if event.starting_up:
                state = replace(state, phase=WAITS, acked=0, counted_at=_ticks(event))
            case Kind.ACKNOWLEDGED:
                busy = window.cwnd >> 16 <= 2 * event.flight
                state = _avoiding(event, window, state, busy)
                if not event.calculating:
                    calculation = _request(event, window, before, state, busy)
            case Kind.SENT if event.flight == 0:
                state = replace(state, counted_at=_ticks(event))
            case Kind.LOSS | Kind.TIMEOUT:
                window = replace(window, ssthresh=decreased(event, DECREASE))
                w_max = remainder(whole, CONVERGENCE) if whole < state.w_max else whole
                w_max = 0 if event.kind is Kind.TIMEOUT else w_max
                state = replace(state, phase=WAITS, acked=0, cwnd_prior=whole, w_max=w_max)
            case Kind.CALCULATED:
                window, state = _calculated(event, window, state)
            case _:
                pass
        return PolicyResult(window, state.packed(), calculation=calculation)


def _avoiding(event: CongestionEvent, window: Window, state: CubicState, busy: bool) -> CubicState:
    now = _ticks(event)
    after = replace(state, counted_at=now)
    if busy:
        passed = (now - state.counted_at) % (1 << 30)
        t_minus_k = min(state.t_minus_k + passed, (1 << T_MINUS_K_BITS - 1) - 1)
        after = replace(after, acked=_saturated(state.acked + event.acked_bytes, 30), t_minus_k=t_minus_k)
    if state.phase == WAITS:
        whole = _saturated(window.cwnd >> 16, BYTE_BITS)
        after = replace(after, t_minus_k=0, w_est=_saturated(window.cwnd, WINDOW_BITS), phase=BEGINS)
        if whole >= state.w_max:
            after = replace(after, w_max=whole, phase=GROWS)
    return after


def _request(
    event: CongestionEvent, window: Window, before: CubicState, state: CubicState, busy: bool
) -> Calculation | None:
    # The RTL requests the sum before it is known whether the window is in use.
    acked = min(_saturated(before.acked + event.acked_bytes, 30), MAX_ACKED)
    root = state.phase == BEGINS
    if not root and not (before.phase == GROWS and busy and acked):
        return None
    request = Request(
        root=int(root),
        reno=int(before.w_est >> 16 >= before.cwnd_prior),
        segment_size=event.segment_size,
        acked=acked,
        round_trip=state.round_trip,
        t_minus_k=state.t_minus_k,
        w_max=state.w_max,
        cwnd=_saturated(window.cwnd, WINDOW_BITS),
        w_est=state.w_est,
    )
    return Calculation(request.packed(), 0 if root else acked)


def _calculated(event: CongestionEvent, window: Window, state: CubicState) -> tuple[Window, CubicState]:
    given = event.calculated
    if given is None or given.of_startup:
        return window, state
    if given.note == 0:
        if state.phase != BEGINS or given.stale:
            return window, state
        t_minus_k = _signed(wrap(state.t_minus_k - (given.response & (1 << 29) - 1), T_MINUS_K_BITS))
        return window, replace(state, t_minus_k=t_minus_k, phase=GROWS)
    if state.phase != GROWS:
        return window, state
    growth = Growth.unpacked(given.response)
    w_est = _saturated(state.w_est + growth.w_est_increase, WINDOW_BITS)
    cwnd = max(window.cwnd, w_est) if growth.friendly else wrap(window.cwnd + growth.increase)
    window = replace(window, cwnd=cwnd)
    if given.stale:
        return window, state
    return window, replace(state, w_est=w_est, acked=max(state.acked - (given.note & (1 << 30) - 1), 0))


def _round_trip(event: CongestionEvent, state: CubicState) -> int:
    """Smoothed with 1/8, by the first sample of each round trip (RFC 6298)."""
    if event.first_rtt is None:
        return state.round_trip
    sample = event.first_rtt >> TICK_SHIFT
    if state.round_trip == 0 or event.kind is Kind.ESTABLISHED:
        return sample
    return state.round_trip + (sample - state.round_trip >> 3)


def _ticks(event: CongestionEvent) -> int:
    return event.now >> TICK_SHIFT & (1 << 30) - 1


def _saturated(value: int, bits: int) -> int:
    return min(value, (1 << bits) - 1)


def _signed(value: int) -> int:
    return value - (1 << T_MINUS_K_BITS) if value >> T_MINUS_K_BITS - 1 else value


POLICY = Cubic()
