# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic window (Iguchi, thesis, 3.1), as rtl/downbeat/congestion/steady/Logistic.scala.

On an ACK while cwnd >= ssthresh it asks what Eq. 10 makes of cwnd in the time since it last did; the answer is limited
to twice cwnd and two segments at least, and ssthresh comes down with it. Without K (argument: K, then A, 44 bits each)
or a round trip it is Reno. A timeout leaves ssthresh = 2 SMSS. Without an argument K and A are measured by streams of
probes. The policy state: argument, time of the last step, Reno's credit, whether there was no argument, the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sim.golden.calculation.logistic_window import (
    ELAPSED_BITS,
    RATE_BITS,
    RATE_FRACTION_BITS,
    ROUND_TRIP_BITS,
    LogisticRequest,
    logistic_window,
)
from sim.golden.congestion import inline_stream
from sim.golden.congestion.seam import Answer, Calculation, CongestionEvent, Departure, Kind, Window, of_bytes, wrap
from sim.golden.congestion.steady import reno

ARGUMENT_BITS, INSTANT_BITS = 2 * RATE_BITS, 48
LONGEST = 10_000_000_000  # ns


def argument(capacity: float, available: float) -> int:
    """What a connection is opened with: bytes per second, rounded down to 2^-10."""
    k, a = (int(rate * (1 << RATE_FRACTION_BITS)) for rate in (capacity, available))
    if not 0 < k < 1 << RATE_BITS or not 0 <= a <= k:
        raise ValueError(f"logistic window, K = {capacity}, A = {available}: K above 0 and below 2^34, A of 0 to K")
    return a << RATE_BITS | k


@dataclass(frozen=True)
class LogisticCalculator:
    name: str = "logistic"
    request_bits: int = ARGUMENT_BITS + ROUND_TRIP_BITS + ELAPSED_BITS + 48

    def unit(self) -> Callable[[int], int]:
        return lambda request: logistic_window(unpack(request))


def pack(asked: LogisticRequest) -> int:
    request, at = 0, 0
    for value, bits in (
        (asked.capacity, RATE_BITS),
        (asked.available, RATE_BITS),
        (asked.round_trip, ROUND_TRIP_BITS),
        (asked.elapsed, ELAPSED_BITS),
        (asked.window, 48),
    ):
        request |= value << at
        at += bits
    return request


def unpack(request: int) -> LogisticRequest:
    fields = []
    for bits in (RATE_BITS, RATE_BITS, ROUND_TRIP_BITS, ELAPSED_BITS, 48):
        fields.append(request & (1 << bits) - 1)
        request >>= bits
    return LogisticRequest(*fields)


@dataclass(frozen=True)
class Logistic:
    name: str = "logistic"
    state_bits: int = ARGUMENT_BITS + INSTANT_BITS + reno.POLICY.state_bits + 1 + inline_stream.State.bits()
    calculator: LogisticCalculator = field(default_factory=LogisticCalculator)

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        given = policy_state & (1 << ARGUMENT_BITS) - 1
        since = policy_state >> ARGUMENT_BITS & (1 << INSTANT_BITS) - 1
        capacity, available = given & (1 << RATE_BITS) - 1, given >> RATE_BITS
        holds = capacity != 0 and event.rtt_minimum not in (0, CongestionEvent.rtt_minimum)
        rest = policy_state >> ARGUMENT_BITS + INSTANT_BITS
        plain = reno.POLICY.answer(event, window, rest & (1 << reno.POLICY.state_bits) - 1)
        measures = rest >> reno.POLICY.state_bits & 1
        stream = inline_stream.State.unpacked(rest >> reno.POLICY.state_bits + 1)
        after, credit, calculation = plain.window, plain.policy_state, None
        match event.kind:
            case Kind.ACKNOWLEDGED if holds and not event.starting_up:
                after, credit = window, 0
                if not event.calculating:
                    elapsed = min(wrap(event.now - since), LONGEST)
                    asked = LogisticRequest(capacity, available, event.rtt_minimum, elapsed, window.cwnd)
                    calculation = Calculation(pack(asked), event.now)
            case Kind.CALCULATED:
                calculated = event.calculated
                if calculated is not None and not calculated.stale and not calculated.of_startup:
                    after, since = _moved(window, wrap(calculated.answer), event.segment_size), calculated.note
            case Kind.SENT:
                since = event.now if event.flight == 0 else since
            case Kind.MEASURED:
                if measures and event.inline.capacity:
                    capacity, available = (
                        rate << RATE_FRACTION_BITS for rate in (event.inline.capacity, event.inline.available)
                    )
                    given = available << RATE_BITS | capacity
                    if window.cwnd < window.ssthresh and not stream.repairs:
                        after = replace(after, ssthresh=window.cwnd)
            case Kind.NONE | Kind.PAIRED:
                pass
            case _:
                since = event.now
                if event.kind is Kind.TIMEOUT and holds:
                    after = replace(after, ssthresh=of_bytes(2 * event.segment_size))
        if event.kind is Kind.ESTABLISHED:
            measures = int(capacity == 0)
        stream = inline_stream.after(event, stream)
        departure = inline_stream.departure(event, window, stream) if measures else Departure()
        rest = (stream.packed() << 1 | measures) << reno.POLICY.state_bits | credit
        return Answer(after, (rest << INSTANT_BITS | since) << ARGUMENT_BITS | given, departure, calculation)


def _moved(window: Window, calculated: int, segment_size: int) -> Window:
    limited = min(calculated, wrap(2 * window.cwnd))
    cwnd = max(limited, of_bytes(2 * segment_size))
    return Window(cwnd, cwnd if limited < max(window.ssthresh, of_bytes(2 * segment_size)) else window.ssthresh)


POLICY = Logistic()
