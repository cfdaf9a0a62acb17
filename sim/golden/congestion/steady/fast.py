# SPDX-License-Identifier: BSD-2-Clause-Patent
"""FAST TCP, as rtl/downbeat/congestion/steady/Fast.scala.

A sample of the round trip requests q = wOld (RTT - base) / RTT; then w = (cwnd + wOld - q + alpha SMSS) / 2. A smaller
w counts at once, with ssthresh; of a larger one each ACK adds as many bytes as it acknowledges. Argument: alpha, every,
mi.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import queue_share
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import (
    FRACTION_BITS,
    Calculation,
    Calculator,
    CongestionEvent,
    Kind,
    PolicyResult,
    Window,
    of_bytes,
    wrap,
)

NO_QUEUE = 750_000  # ns
BYTES = (1 << 32) - 1


@dataclass(frozen=True)
class FastState(PackedFields):
    """The policy state, lowest field first."""

    alpha: int = 100  # segments
    every: int = 1  # samples
    mi: int = 0  # a flag
    owed: int = 0  # bytes
    flight: int = 0  # bytes, with the last sample or after a loss
    w_old: int = 0  # bytes, of the sample whose q is not known
    round_trip: int = 0  # ns, of that sample
    skips: int = 0  # a flag

    FIELDS = (
        ("alpha", 16),
        ("every", 2),
        ("mi", 1),
        ("owed", 32),
        ("flight", 32),
        ("w_old", 32),
        ("round_trip", 36),
        ("skips", 1),
    )


def argument(alpha: int, every: int = 1, *, mi: bool = False) -> int:
    """The argument of a connection."""
    if not 2 <= alpha < 1 << 16 or every not in (1, 2):
        raise ValueError(f"FAST, alpha = {alpha}, every = {every}: alpha from 2 to 65535, every 1 or 2")
    return FastState(alpha, every, mi).packed()


@dataclass(frozen=True)
class Fast:
    name: str = "fast"
    state: type[PackedFields] = FastState
    calculator: Calculator = field(default=queue_share.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = FastState.unpacked(policy_state)
        after = before if event.first_rtt is None else replace(before, flight=event.flight)
        match event.kind:
            case Kind.ESTABLISHED:
                given = before if before.alpha or before.every or before.mi else FastState()
                after = FastState(given.alpha, given.every, given.mi)
            case Kind.ACKNOWLEDGED if not event.starting_up:
                grown = min(event.acked_bytes, before.owed)
                window = replace(window, cwnd=wrap(window.cwnd + of_bytes(grown)))
                after = _sampled(event, before, replace(after, owed=before.owed - grown))
            case Kind.LOSS | Kind.TIMEOUT:
                ssthresh = max(event.flight // 2, 2 * event.segment_size)
                window = replace(window, ssthresh=of_bytes(ssthresh))
                after = replace(after, owed=0, flight=ssthresh, round_trip=0)
            case Kind.RESTART:
                after = replace(after, owed=0)
            case Kind.CALCULATED:
                window, after = _calculated(event, window, after)
            case _:
                pass
        requested = None
        if before.round_trip and not event.calculating:
            request = queue_share.Request(before.w_old, before.round_trip, 1, event.rtt_minimum)
            queued = before.round_trip - event.rtt_minimum
            requested = Calculation(request.packed(), int(queued < NO_QUEUE) << 32 | before.w_old)
        return PolicyResult(window, after.packed(), calculation=requested)


def _sampled(event: CongestionEvent, before: FastState, after: FastState) -> FastState:
    if event.first_rtt is None or before.flight == 0 or before.round_trip:
        return after
    if before.every & 2 and not before.skips:
        return replace(after, skips=True)
    return replace(after, skips=False, round_trip=event.first_rtt, w_old=before.flight)


def _calculated(event: CongestionEvent, window: Window, after: FastState) -> tuple[Window, FastState]:
    given = event.calculated
    if given is None or given.of_startup:
        return window, after
    after = replace(after, round_trip=0)
    if given.stale:
        return window, after
    if after.mi and given.note >> 32 & 1:
        return window, replace(after, owed=BYTES)
    target = (given.note & BYTES) - (given.response & BYTES) + after.alpha * event.segment_size
    beyond = target - (window.cwnd >> FRACTION_BITS)
    if beyond < 0:
        less = wrap((window.cwnd + target * of_bytes(1)) >> 1)
        window, after = Window(less, less), replace(after, owed=0)
    else:
        after = replace(after, owed=wrap(beyond >> 1, 32))
    return window, after


POLICY = Fast()
