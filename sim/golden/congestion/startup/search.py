# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SEARCH (draft-chung-ccwg-search), as rtl/downbeat/congestion/startup/Search.scala.

Growth is min(N, 8 SMSS). When a bin is over, the bins (golden/calculation/search_bins.py) say whether slow start ends
there, with ssthresh = cwnd. Bytes sent are those acknowledged and those in flight.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import search_bins
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import Answer, Calculation, Calculator, CongestionEvent, Kind, Window, wrap
from sim.golden.congestion.slow_start import slow_start

LONGEST = (1 << 36) - 1  # ns
BURST = 8  # segments


@dataclass(frozen=True)
class SearchState(PackedFields):
    """The policy state, lowest field first."""

    round_trip: int = 0  # ns
    initial: int = 0  # ns
    bin_end: int = 0  # ns
    index: int = 0
    acked: int = 0  # bytes
    begun: int = 0  # a flag, as the next
    over: int = 0

    FIELDS = (
        ("round_trip", 36),
        ("initial", 36),
        ("bin_end", 48),
        ("index", 6),
        ("acked", 32),
        ("begun", 1),
        ("over", 1),
    )


@dataclass(frozen=True)
class Search:
    name: str = "search"
    state_bits: int = SearchState.bits()
    calculator: Calculator = field(default=search_bins.CALCULATOR)

    def answer(self, event: CongestionEvent, window: Window, policy_state: int) -> Answer:
        before = SearchState.unpacked(policy_state)
        after = before if event.rtt is None else replace(before, round_trip=event.rtt)
        new = slow_start(event, window, at_most=(1 if before.over else BURST) * event.segment_size)
        asked = None
        match event.kind:
            case Kind.ESTABLISHED:
                after = SearchState(event.rtt or 0)
            case Kind.ACKNOWLEDGED if event.starting_up and not before.over:
                asked = _asked(event, before, after)
                after = replace(after, acked=wrap(before.acked + event.acked_bytes, 32))
            case Kind.LOSS | Kind.TIMEOUT:
                after = replace(after, over=True)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup:
                told = search_bins.Response.unpacked(event.calculated.answer)
                if told.restarts:
                    after = replace(after, begun=False)
                else:
                    last = before.bin_end if before.begun else event.calculated.note
                    initial = before.initial if before.begun else before.round_trip
                    after = replace(
                        after, begun=True, initial=initial, bin_end=wrap(last + told.step), index=told.index
                    )
                if told.exits and not event.calculated.stale:
                    new = new if before.over else replace(new, ssthresh=window.cwnd)
                    after = replace(after, over=True)
            case _:
                pass
        return Answer(new, after.packed(), calculation=asked)


def _asked(event: CongestionEvent, before: SearchState, after: SearchState) -> Calculation | None:
    late = wrap(event.now - before.bin_end)
    is_late = 0 < late < 1 << 47
    if event.calculating or after.round_trip == 0 or (before.begun and not is_late):
        return None
    request = search_bins.Request(
        initial=before.initial if before.begun else after.round_trip,
        late=min(late, LONGEST),
        index=before.index,
        acked=wrap(before.acked + event.acked_bytes, 32) >> 8,
        sent=wrap(before.acked + event.flight, 32) >> 8,
        begins=not before.begun,
    )
    return Calculation(request.packed(), event.now)


POLICY = Search()
