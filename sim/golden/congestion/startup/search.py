# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SEARCH (draft-chung-ccwg-search), as rtl/downbeat/congestion/startup/Search.scala.

Growth is min(N, 8 SMSS). When a bin is over, the bins (golden/calculation/search_bins.py) say whether slow start ends
there, with ssthresh = cwnd. Bytes sent are those acknowledged and those in flight.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.golden.calculation import search_bins
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import Calculation, Calculator, CongestionEvent, Kind, PolicyResult, Window, wrap
from sim.golden.congestion.slow_start import slow_start

LONGEST = (1 << 36) - 1  # ns
BURST = 8  # segments


@dataclass(frozen=True)
class SearchState(PackedFields):
    """The policy state, lowest field first."""

    round_trip: int = 0  # ns
    initial_rtt: int = 0  # ns
    bin_end: int = 0  # ns
    index: int = 0
    acked: int = 0  # bytes
    begun: int = 0  # a flag, as the next
    over: int = 0

    FIELDS = (
        ("round_trip", 36),
        ("initial_rtt", 36),
        ("bin_end", 48),
        ("index", 6),
        ("acked", 32),
        ("begun", 1),
        ("over", 1),
    )


@dataclass(frozen=True)
class Search:
    name: str = "search"
    state: type[PackedFields] = SearchState
    calculator: Calculator = field(default=search_bins.CALCULATOR)

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = SearchState.unpacked(policy_state)
        after = before if event.rtt is None else replace(before, round_trip=event.rtt)
        new = slow_start(event, window, at_most=(1 if before.over else BURST) * event.segment_size)
        requested = None
        match event.kind:
            case Kind.ESTABLISHED:
                after = SearchState(event.rtt or 0)
            case Kind.ACKNOWLEDGED if event.starting_up and not before.over:
                requested = _request(event, before, after)
                after = replace(after, acked=wrap(before.acked + event.acked_bytes, 32))
            case Kind.LOSS | Kind.TIMEOUT:
                after = replace(after, over=True)
            case Kind.CALCULATED if event.calculated is not None and event.calculated.of_startup:
                given = search_bins.Response.unpacked(event.calculated.response)
                if given.restarts:
                    after = replace(after, begun=False)
                else:
                    last = before.bin_end if before.begun else event.calculated.note
                    initial = before.initial_rtt if before.begun else before.round_trip
                    after = replace(
                        after, begun=True, initial_rtt=initial, bin_end=wrap(last + given.step), index=given.index
                    )
                if given.exits and not event.calculated.stale:
                    new = new if before.over else replace(new, ssthresh=window.cwnd)
                    after = replace(after, over=True)
            case _:
                pass
        return PolicyResult(new, after.packed(), calculation=requested)


def _request(event: CongestionEvent, before: SearchState, after: SearchState) -> Calculation | None:
    late = wrap(event.now - before.bin_end)
    is_late = 0 < late < 1 << 47
    if event.calculating or after.round_trip == 0 or (before.begun and not is_late):
        return None
    request = search_bins.Request(
        initial=before.initial_rtt if before.begun else after.round_trip,
        late=min(late, LONGEST),
        index=before.index,
        acked=wrap(before.acked + event.acked_bytes, 32) >> 8,
        sent=wrap(before.acked + event.flight, 32) >> 8,
        begins=not before.begun,
    )
    return Calculation(request.packed(), event.now)


POLICY = Search()
