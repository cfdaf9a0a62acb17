# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic window (Iguchi, thesis, 3.1), as rtl/downbeat/congestion/steady/Logistic.scala.

On an ACK while cwnd >= ssthresh it requests cwnd by Eq. 10 after the time since it last did; the response is limited to
twice cwnd and two segments at least, and ssthresh comes down with it. Without K (argument: K, then A, 44 bits each)
or a round trip it is Reno. Then follow eps and gamma. A timeout leaves ssthresh = 2 SMSS. Without an argument K and A
are measured by streams of probes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sim.golden.calculation import inline_stream
from sim.golden.calculation.logistic_window import (
    EPSILON,
    EPSILON_BITS,
    EPSILONS,
    GAMMA,
    GAMMA_BITS,
    GAMMAS,
    RATE_BITS,
    RATE_FRACTION_BITS,
    LogisticRequest,
    logistic_window,
)
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import (
    Calculation,
    CongestionEvent,
    Departure,
    Kind,
    PolicyResult,
    Window,
    of_bytes,
    wrap,
)
from sim.golden.congestion.steady import reno

LONGEST = 10_000_000_000  # ns


@dataclass(frozen=True)
class LogisticState(PackedFields):
    """The policy state, lowest field first."""

    capacity: int  # K, bytes per second with 10 fraction bits
    available: int  # A, in the same unit
    epsilon: int = EPSILON  # 320 times it
    gamma: int = GAMMA  # 640 times it
    moved_at: int = 0  # ns
    credit: int = 0  # Reno's
    measures: int = 0  # there is no argument: K and A are measured
    stream: inline_stream.State = field(default_factory=inline_stream.State)

    FIELDS = (
        ("capacity", RATE_BITS),
        ("available", RATE_BITS),
        ("epsilon", EPSILON_BITS),
        ("gamma", GAMMA_BITS),
        ("moved_at", 48),
        ("credit", reno.RenoState.bits()),
        ("measures", 1),
        ("stream", inline_stream.State),
    )


def argument(capacity: float, available: float, epsilon: float = 1.95, gamma: float = 0.9) -> int:
    """The argument of a connection: bytes per second, rounded down to 2^-10; eps and gamma to the nearest."""
    k, a = (int(rate * (1 << RATE_FRACTION_BITS)) for rate in (capacity, available))
    if not 0 < k < 1 << RATE_BITS or not 0 <= a <= k:
        raise ValueError(f"logistic window, K = {capacity}, A = {available}: K above 0 and below 2^34, A of 0 to K")
    return LogisticState(k, a, round(epsilon * EPSILONS), round(gamma * GAMMAS)).packed()


@dataclass(frozen=True)
class LogisticCalculator:
    name: str = "logistic"
    request_bits: int = LogisticRequest.bits()

    def unit(self) -> Callable[[int], int]:
        return lambda request: logistic_window(LogisticRequest.unpacked(request))


@dataclass(frozen=True)
class Logistic:
    name: str = "logistic"
    state: type[PackedFields] = LogisticState
    calculator: LogisticCalculator = field(default_factory=LogisticCalculator)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = LogisticState.unpacked(policy_state)
        holds = before.capacity != 0 and event.rtt_minimum not in (0, CongestionEvent.rtt_minimum)
        plain = reno.POLICY.respond(event, window, before.credit)
        after, state, calculation = plain.window, replace(before, credit=plain.policy_state), None
        match event.kind:
            case Kind.ACKNOWLEDGED if holds and not event.starting_up:
                after, state = window, replace(state, credit=0)
                if not event.calculating:
                    elapsed = min(wrap(event.now - before.moved_at), LONGEST)
                    request = LogisticRequest(
                        before.capacity,
                        before.available,
                        event.rtt_minimum,
                        elapsed,
                        window.cwnd,
                        before.epsilon,
                        before.gamma,
                    )
                    calculation = Calculation(request.packed(), event.now)
            case Kind.CALCULATED:
                calculated = event.calculated
                if calculated is not None and not calculated.stale and not calculated.of_startup:
                    after = _moved(window, wrap(calculated.response), event.segment_size)
                    state = replace(state, moved_at=calculated.note)
            case Kind.SENT:
                state = replace(state, moved_at=event.now) if event.flight == 0 else state
            case Kind.MEASURED:
                if before.measures and event.inline.capacity:
                    capacity, available = (
                        rate << RATE_FRACTION_BITS for rate in (event.inline.capacity, event.inline.available)
                    )
                    state = replace(state, capacity=capacity, available=available)
                    if window.cwnd < window.ssthresh and not before.stream.repairs:
                        after = replace(after, ssthresh=window.cwnd)
            case Kind.NONE | Kind.PAIRED:
                pass
            case _:
                state = replace(state, moved_at=event.now)
                if event.kind is Kind.TIMEOUT and holds:
                    after = replace(after, ssthresh=of_bytes(2 * event.segment_size))
        if event.kind is Kind.ESTABLISHED:
            state = replace(state, measures=int(before.capacity == 0))
        if before.epsilon == 0:  # no argument
            state = replace(state, epsilon=EPSILON, gamma=GAMMA)
        state = replace(state, stream=inline_stream.after(event, before.stream))
        departure = inline_stream.departure(event, window, state.stream) if state.measures else Departure()
        return PolicyResult(after, state.packed(), departure, calculation)


def _moved(window: Window, calculated: int, segment_size: int) -> Window:
    limited = min(calculated, wrap(2 * window.cwnd))
    cwnd = max(limited, of_bytes(2 * segment_size))
    return Window(cwnd, cwnd if limited < max(window.ssthresh, of_bytes(2 * segment_size)) else window.ssthresh)


POLICY = Logistic()
