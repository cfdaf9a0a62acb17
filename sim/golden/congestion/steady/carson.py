# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP Carson (Kannan, thesis, WPI 2002), as rtl/downbeat/congestion/steady/Carson.scala.

AIMD(a, b) by a table of four rows; the row goes up while the weighted mean of the loss intervals is steady, and back to
the first when it is not, after a timeout, and when nothing was lost for `factor` times the rounds between the last two
loss events. Arguments: fastdrop, full, factor, variance, history.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.golden.calculation.loss_intervals import CALCULATOR, ENTRIES, VARIANCE, LossIntervals, Mean, Request
from sim.golden.congestion.additive_increase import decreased, increased, remainder
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import FRACTION_BITS, Calculation, CongestionEvent, Kind, PolicyResult, Window

TABLE = [(65536, 32768), (49152, 26214), (16384, 16384), (9699, 8192)]  # a, b: 16 fraction bits
FACTOR = 7  # quarters, as usual
MAX = (1 << 32) - 1
MAX_ROUNDS = (1 << 16) - 1


@dataclass(frozen=True)
class CarsonState(PackedFields):
    """The policy state, lowest field first."""

    fast_drop: int = 0
    needs_full: int = 0
    factor: int = FACTOR  # quarters of the rounds between two loss events
    variance: int = VARIANCE  # percent of the mean
    history: int = ENTRIES  # intervals of the whole history
    credit: int = 0
    row: int = 0
    place: int = 0  # the newest interval in the history
    count: int = 0  # intervals in the history
    mean: int = 0  # packets, 8 fraction bits
    pending: int = 0
    interval: int = 0  # bytes, that waits for the history
    acked: int = 0  # bytes, since the last loss event
    left: int = 0  # bytes until the round ends
    rounds: int = 0  # since the last loss event
    between: int = 0  # rounds between the last two loss events
    armed: int = 0
    seen: int = 0
    mixed: int = 0  # a new row has begun with the last loss event

    FIELDS = (
        ("fast_drop", 1),
        ("needs_full", 1),
        ("factor", 6),
        ("variance", 7),
        ("history", 6),
        ("credit", 48),
        ("row", 2),
        ("place", 5),
        ("count", 6),
        ("mean", 28),
        ("pending", 1),
        ("interval", 32),
        ("acked", 32),
        ("left", 32),
        ("rounds", 16),
        ("between", 16),
        ("armed", 1),
        ("seen", 1),
        ("mixed", 1),
    )

    def restarted(self) -> CarsonState:
        """Unsteady."""
        return replace(self, row=0, count=0, pending=0)


@dataclass(frozen=True)
class Carson:
    name: str = "carson"
    state: type[PackedFields] = CarsonState
    calculator: LossIntervals = CALCULATOR

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = CarsonState.unpacked(policy_state)
        increase, decrease = TABLE[before.row]
        state = _counted(event, before)
        match event.kind:
            case Kind.ESTABLISHED:
                state = CarsonState(before.fast_drop, before.needs_full, before.factor, before.variance, before.history)
            case Kind.ACKNOWLEDGED if not event.starting_up:
                cwnd, credit = increased(event, window, before.credit, increase)
                window, state = replace(window, cwnd=cwnd), replace(state, credit=credit)
            case Kind.LOSS | Kind.TIMEOUT:
                window, state = replace(window, ssthresh=decreased(event, decrease)), _lost(event, state)
            case Kind.CALCULATED:
                state = _judged(event, state)
                if state.row > before.row:
                    window = replace(window, ssthresh=_cut_again(event, window, state.row))
            case _:
                pass
        if before.variance == 0:  # no argument
            state = replace(state, factor=FACTOR, variance=VARIANCE, history=ENTRIES)
        requesting = state.pending and not event.calculating and event.kind is not Kind.CALCULATED
        return PolicyResult(window, state.packed(), calculation=_request(event, before, state) if requesting else None)


def _counted(event: CongestionEvent, state: CarsonState) -> CarsonState:
    """Rounds, and bytes since the last loss event."""
    if event.acked_bytes == 0:
        return state
    reached = event.acked_bytes >= state.left
    ends = reached and state.left > 0
    rounds = min(state.rounds + 1, MAX_ROUNDS) if ends else state.rounds
    after = replace(
        state,
        left=max(event.flight - event.acked_bytes, 0) if reached else state.left - event.acked_bytes,
        acked=min(state.acked + event.acked_bytes, MAX),
        rounds=rounds,
    )
    loses = event.kind in (Kind.LOSS, Kind.TIMEOUT)
    if ends and state.armed and 4 * rounds >= state.factor * state.between and not loses:
        return replace(after.restarted(), armed=0)
    return after


def _lost(event: CongestionEvent, state: CarsonState) -> CarsonState:
    """All losses of one round are one loss event; two ends of rounds after it a timeout is another one for certain."""
    after = replace(state, credit=0)
    if event.kind is Kind.LOSS or state.rounds >= 2 or not state.seen:
        after = replace(
            after,
            seen=1,
            armed=int(state.seen and not state.mixed),
            mixed=0,
            between=state.rounds,
            acked=0,
            rounds=0,
            interval=state.acked,
            pending=state.seen,
        )
    return after.restarted() if event.kind is Kind.TIMEOUT else after


def _judged(event: CongestionEvent, state: CarsonState) -> CarsonState:
    given = event.calculated
    if given is None or given.of_startup or given.stale or not state.pending:
        return state
    mean = Mean.unpacked(given.response)
    count, full = _count(state), state.count + 1 >= state.history
    after = replace(state, pending=0, place=(state.place + 1) % ENTRIES, count=count, mean=mean.mean)
    if not full and (state.count < state.history // 2 or state.row == 0 or state.needs_full):
        return after
    if mean.moved or state.fast_drop and mean.fallen:
        return after.restarted()
    if not full:
        return after
    row = min(state.row + 1, len(TABLE) - 1)
    if row > state.row:  # the rounds between losses that the limit comes from were another row's
        after = replace(after, armed=0, mixed=1)
    return replace(after, row=row, count=state.history // 2, mean=mean.newest)


def _cut_again(event: CongestionEvent, window: Window, row: int) -> int:
    """By the milder b of the new row, if that is milder in whole bytes; on the wires ssthresh has a fraction."""
    kept = remainder(event.flight, TABLE[row][1])
    return decreased(event, TABLE[row][1]) if window.ssthresh >> FRACTION_BITS < kept else window.ssthresh


def _request(event: CongestionEvent, before: CarsonState, state: CarsonState) -> Calculation:
    place = (state.place + 1) % ENTRIES
    request = Request(
        state.interval, event.segment_size, place, _count(before), before.history, before.mean, before.variance
    )
    return Calculation(request.packed())


def _count(state: CarsonState) -> int:
    """Intervals in the history with one more."""
    return state.history if state.count >= state.history else state.count + 1


POLICY = Carson()
