# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Vegas slow start, as rtl/downbeat/congestion/startup/Vegasstart.scala.

The window grows in every other round; at the end of each of the others diff = cwnd (RTT - base) / RTT, in segments and
rounded, ends start-up above gamma: an eighth less, ssthresh = 2 SMSS. Argument: gamma, round.
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
from sim.golden.congestion.slow_start import slow_start

MAX_SAMPLES = (1 << 12) - 1
BYTES = (1 << 32) - 1


@dataclass(frozen=True)
class VegasstartState(PackedFields):
    """The policy state, lowest field first."""

    gamma: int = 1  # segments
    round: int = 1  # a flag
    left: int = 0  # bytes until the round ends
    total: int = 0  # ns
    count: int = 0
    grows: int = 0  # a flag, as the next
    due: int = 0

    FIELDS = (("gamma", 8), ("round", 1), ("left", 32), ("total", 48), ("count", 12), ("grows", 1), ("due", 1))


def argument(gamma: int, *, rounded: bool = True) -> int:
    """The argument of a connection."""
    if not 1 <= gamma < 256:
        raise ValueError(f"Vegas slow start, gamma = {gamma}: gamma from 1 to 255")
    return VegasstartState(gamma, rounded).packed()


@dataclass(frozen=True)
class Vegasstart:
    name: str = "vegasstart"
    state: type[PackedFields] = VegasstartState
    calculator: Calculator = field(default=queue_share.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before, whole = VegasstartState.unpacked(policy_state), window.cwnd >> FRACTION_BITS
        after, new = before, slow_start(event, window)
        match event.kind:
            case Kind.ESTABLISHED:
                given = before if before.gamma or before.round else VegasstartState()
                after = VegasstartState(given.gamma, given.round)
            case Kind.ACKNOWLEDGED:
                if not before.grows or event.flight + 2 * event.segment_size < whole:
                    new = window
                if event.starting_up:
                    after = _counted(event, before)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup:
                after = replace(after, due=False, total=0, count=0)
                twice = 2 * (event.calculated.response & BYTES) + before.round
                if twice > (2 * before.gamma + before.round) * event.segment_size:
                    less = wrap(window.cwnd - window.cwnd // 8)
                    new = Window(less, of_bytes(2 * event.segment_size))
            case _:
                pass
        requested = None
        if before.due and not event.calculating:
            requested = Calculation(queue_share.Request(whole, before.total, before.count, event.rtt_minimum).packed())
        departure = Departure(probe=event.starting_up, begins=event.starting_up)
        return PolicyResult(new, after.packed(), departure, requested)


def _counted(event: CongestionEvent, before: VegasstartState) -> VegasstartState:
    ends, left = counted(event, before.left)
    after = replace(before, left=left)
    sample = event.round_trip
    if sample is not None and not before.grows and not before.due and before.count < MAX_SAMPLES:
        after = replace(after, total=wrap(before.total + sample), count=before.count + 1)
    if ends:
        measured = not before.grows and (after.count > 0)
        after = replace(after, grows=not before.grows, due=before.due or measured)
    return after


POLICY = Vegasstart()
