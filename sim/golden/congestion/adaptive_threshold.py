# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Astart's rule, as rtl/downbeat/congestion/startup/AdaptiveThreshold.scala: e = B RTTmin raises ssthresh until a loss.

A timeout begins it again.
"""

from __future__ import annotations

from sim.golden.congestion.seam import CongestionEvent, Kind, Window, of_bytes


def chosen(event: CongestionEvent, *, bwe: int, slide: int) -> int:
    """The estimate that two flags of an argument choose, bytes: BWE, else ERE by the slides' rule or the thesis's."""
    if bwe:
        return event.bwe
    return event.sliding if slide else event.ere


def raised(event: CongestionEvent, window: Window, *, bwe: int, slide: int, over: int) -> int:
    """ssthresh after an event."""
    if event.kind is not Kind.ESTIMATED or over:
        return window.ssthresh
    return max(window.ssthresh, of_bytes(chosen(event, bwe=bwe, slide=slide)))


def over_after(event: CongestionEvent, over: int) -> int:
    """Whether a loss has ended it, after an event."""
    match event.kind:
        case Kind.LOSS:
            return 1
        case Kind.TIMEOUT | Kind.ESTABLISHED:
            return 0
        case _:
            return over
