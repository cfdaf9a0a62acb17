# SPDX-License-Identifier: BSD-2-Clause-Patent
"""HighSpeed TCP (RFC 3649), as rtl/downbeat/congestion/steady/Hstcp.scala, by the table of the RFC's Appendix B.

Row n is for windows from `begin` on: a = n, b in 256ths. Growth and decrease are those of additive_increase.py. The row
moves by one with an event, but not while recovery inflates the window. Argument: 1 looks up one row further, as Linux
does. The policy state: argument, row, inflated, credit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, log

from sim.golden.congestion.additive_increase import CREDIT_BITS, SHARE_BITS, decreased, increased
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import FRACTION_BITS, CongestionEvent, Kind, PolicyResult, Window

LOW, HIGH = 38, 83_000  # segments: Low_Window, High_Window
ROWS = 73


def b(window: float) -> float:
    """The share that a loss takes at a window in segments (RFC 3649 5)."""
    return (0.1 - 0.5) * (log(window) - log(LOW)) / (log(HIGH) - log(LOW)) + 0.5


def a(window: float) -> float:
    """Segments more for a round trip, with p(w) = 1 / (12.8 w^1.2), as Appendix B computes it."""
    share = b(window)
    return float(window**2 / (12.8 * window**1.2) * 2 * share / (2 - share))


def _table() -> list[tuple[int, int]]:
    """First window and b in 256ths of each row. A row begins where a has risen by one."""
    rows, window, reached = list[tuple[int, int]](), LOW, 1.0
    while len(rows) < ROWS:
        rows.append((window, floor(256 * b(window))))
        while a(window) <= reached + 1:
            window += 1
        reached = a(window)
    return rows


TABLE = _table()


def begin(row: int, *, linux: bool) -> int:
    """The first window of a row, segments; 2^17 - 1 behind the last."""
    if row <= 1:
        return 0
    if linux:
        return TABLE[row - 2][0] + 1
    return TABLE[row - 1][0] if row <= ROWS else (1 << 17) - 1


@dataclass(frozen=True)
class HstcpState(PackedFields):
    """The policy state, lowest field first."""

    linux: int = 0  # a flag
    row: int = 1
    inflated: int = 0  # a flag: duplicates inflate the window
    credit: int = 0  # bytes, 16 fraction bits

    FIELDS = (("linux", 1), ("row", 7), ("inflated", 1), ("credit", CREDIT_BITS))


@dataclass(frozen=True)
class Hstcp:
    name: str = "hstcp"
    state: type[PackedFields] = HstcpState

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = HstcpState.unpacked(policy_state)
        after = replace(before, row=_moved(before, event, window))
        match event.kind:
            case Kind.ESTABLISHED:
                after = replace(after, row=1, inflated=False, credit=0)
            case Kind.ACKNOWLEDGED if not event.starting_up:
                cwnd, credit = increased(event, window, before.credit, before.row << SHARE_BITS)
                window, after = replace(window, cwnd=cwnd), replace(after, credit=credit)
            case Kind.LOSS | Kind.TIMEOUT:
                decrease = TABLE[min(max(before.row, 1), ROWS) - 1][1] << SHARE_BITS - 8
                inflated = event.kind is Kind.LOSS and not event.uninflated
                window = replace(window, ssthresh=decreased(event, decrease))
                after = replace(after, inflated=inflated, credit=0)
            case Kind.RECOVERED | Kind.TIMEOUT_AGAIN:
                after = replace(after, inflated=False)
            case Kind.RESTART:
                after = replace(after, credit=0)
            case _:
                pass
        return PolicyResult(window, after.packed())


def _moved(before: HstcpState, event: CongestionEvent, window: Window) -> int:
    """The row after an event of another kind than `none`."""
    number, linux, whole = min(max(before.row, 1), ROWS), bool(before.linux), window.cwnd >> FRACTION_BITS
    if event.kind is Kind.NONE or before.inflated:
        return before.row
    if before.row < ROWS and whole >= begin(number + 1, linux=linux) * event.segment_size:
        return before.row + 1
    if before.row > 1 and whole < begin(number, linux=linux) * event.segment_size:
        return before.row - 1
    return before.row


POLICY = Hstcp()
