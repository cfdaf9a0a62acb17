# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Vegas congestion avoidance, as rtl/downbeat/congestion/steady/Vegas.scala.

At the end of each round diff = cwnd (RTT - base) / RTT, in segments and rounded, RTT the mean of its samples: above beta
one segment less, below alpha Reno's growth in the next. A loss leaves 3/4 of the flight, a timeout a half. Argument:
alpha, beta, round.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import queue_share
from sim.golden.congestion.byte_round import counted
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import (
    FRACTION_BITS,
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
from sim.golden.congestion.steady import reno

BYTES = (1 << 32) - 1
MAX_SAMPLES = (1 << 12) - 1


@dataclass(frozen=True)
class VegasState(PackedFields):
    """The policy state, lowest field first."""

    alpha: int = 1  # segments
    beta: int = 3  # segments
    round: int = 1  # a flag
    credit: int = 0  # Reno's
    left: int = 0  # bytes until the round ends
    total: int = 0  # ns
    count: int = 0
    grows: int = 0  # a flag, as the next
    due: int = 0

    FIELDS = (
        ("alpha", 8),
        ("beta", 8),
        ("round", 1),
        ("credit", 32),
        ("left", 32),
        ("total", 48),
        ("count", 12),
        ("grows", 1),
        ("due", 1),
    )


def argument(alpha: int, beta: int, *, rounded: bool = True) -> int:
    """The argument of a connection."""
    if not 1 <= alpha <= beta < 256:
        raise ValueError(f"Vegas, alpha = {alpha}, beta = {beta}: alpha from 1 to beta, beta to 255")
    return VegasState(alpha, beta, rounded).packed()


@dataclass(frozen=True)
class Vegas:
    name: str = "vegas"
    state: type[PackedFields] = VegasState
    calculator: Calculator = field(default=queue_share.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = VegasState.unpacked(policy_state)
        after, old = before, window
        match event.kind:
            case Kind.ESTABLISHED:
                given = before if before.alpha or before.beta or before.round else VegasState()
                after = VegasState(given.alpha, given.beta, given.round)
            case Kind.ACKNOWLEDGED if not event.starting_up:
                if before.grows:
                    plain = reno.POLICY.respond(event, window, before.credit)
                    window, after = plain.window, replace(after, credit=plain.policy_state)
                after = _counted(event, before, after)
            case Kind.LOSS | Kind.TIMEOUT:
                left = event.flight - event.flight // 4 if event.kind is Kind.LOSS else event.flight // 2
                window = replace(window, ssthresh=of_bytes(max(left, 2 * event.segment_size)))
                after = VegasState(before.alpha, before.beta, before.round)
            case Kind.RESTART:
                after = replace(after, credit=0)
            case Kind.CALCULATED:
                window, after = _calculated(event, window, after)
            case _:
                pass
        requested = None
        if before.due and not event.calculating:
            request = queue_share.Request(old.cwnd >> FRACTION_BITS, before.total, before.count, event.rtt_minimum)
            requested = Calculation(request.packed())
        departure = Departure(probe=not event.starting_up, begins=not event.starting_up)
        return PolicyResult(window, after.packed(), departure, requested)


def _counted(event: CongestionEvent, before: VegasState, after: VegasState) -> VegasState:
    ends, left = counted(event, before.left)
    after = replace(after, left=left)
    sample = event.round_trip
    if sample is not None and not before.due and before.count < MAX_SAMPLES:
        after = replace(after, total=wrap(before.total + sample, 48), count=before.count + 1)
    return replace(after, due=after.due or (ends and after.count > 0))


def _calculated(event: CongestionEvent, window: Window, after: VegasState) -> tuple[Window, VegasState]:
    given, segment = event.calculated, event.segment_size
    if given is None or given.of_startup:
        return window, after
    after = replace(after, total=0, count=0, due=False)
    if given.stale:
        return window, after
    twice = 2 * (given.response & BYTES)
    after = replace(after, grows=twice < (2 * after.alpha - after.round) % 512 * segment)
    if twice + after.round > (2 * after.beta + after.round) * segment and window.cwnd >> FRACTION_BITS >= 3 * segment:
        less = wrap(window.cwnd - of_bytes(segment))
        window = Window(less, min(window.ssthresh, less))
    return window, after


POLICY = Vegas()
