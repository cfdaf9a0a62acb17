# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The windows of slow start (RFC 5681 3.1), as rtl/downbeat/congestion/startup/SlowStart.scala.

On `established`: cwnd = initial window x SMSS, ssthresh = the connection's initial ssthresh.
On `restart`: cwnd = min(cwnd, initial window x SMSS) (RFC 5681 4.1).
On an ACK of N new bytes: cwnd += min(N, SMSS).
Variants: another bound than SMSS (`at_most`, bytes); a quarter of the growth (`quartered`).
"""

from __future__ import annotations

from dataclasses import replace

from sim.golden.congestion.seam import CongestionEvent, Kind, Window, of_bytes, wrap


def slow_start(
    event: CongestionEvent,
    window: Window,
    *,
    at_most: int | None = None,
    quartered: bool = False,
) -> Window:
    """Windows after an event."""
    match event.kind:
        case Kind.ESTABLISHED:
            return Window(of_bytes(event.initial_window * event.segment_size), of_bytes(event.initial_ssthresh))
        case Kind.RESTART:
            return replace(window, cwnd=min(window.cwnd, of_bytes(event.initial_window * event.segment_size)))
        case Kind.ACKNOWLEDGED:
            growth = of_bytes(min(event.acked_bytes, event.segment_size if at_most is None else at_most))
            return replace(window, cwnd=wrap(window.cwnd + (growth // 4 if quartered else growth)))
        case _:
            return window
