# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The rate from which a stream arrives slower than it departs, as rtl/downbeat/calculation/InlineProgram.scala.

Two lines: the identity for the first gaps, least squares for the rest; the split with the smallest squared error
counts, and the value is where the lines meet.
"""

from __future__ import annotations

from collections.abc import Sequence

RATE_BITS = 17  # bits of a scaled rate: sums of eight products of two have 40 bits
SLOPE_BITS = 16
FARTHEST = 1 << 24  # bound of the place where the lines meet


def knee(gaps: Sequence[tuple[int, int]], transfer: int, low: int, high: int) -> int:
    """Between `low` and `high`; `transfer` / gap (departure, arrival) is a rate. Where no line falls behind: the
    middle."""
    scale = (transfer // min(min(pair) for pair in gaps) >> RATE_BITS) + 1
    scaled = transfer // scale
    count = x1 = y1 = xx = xy = yy = behind = 0
    best: tuple[int, int, int, int, int, int] | None = None
    for departure, arrival in reversed(gaps):
        x, y = scaled // departure, scaled // arrival
        count, x1, y1, xx, xy, yy = count + 1, x1 + x, y1 + y, xx + x * x, xy + x * y, yy + y * y
        behind += (y - x) ** 2
        spread = count * xx - x1 * x1
        if spread == 0:
            continue
        common = count * xy - x1 * y1
        slope = (abs(common) << SLOPE_BITS) // spread
        residual = (count * yy - y1 * y1 - (abs(common) * slope >> SLOPE_BITS)) // count
        error = residual - behind
        if best is None or error < best[0]:
            best = error, spread, common, count, x1, y1
    if best is None or best[1] <= best[2]:
        return (low + high) // 2
    _, spread, common, count, x1, y1 = best
    shift = abs(y1 - x1) * spread // (spread - common)
    meeting = x1 - shift if y1 < x1 else x1 + shift
    value = min(max(meeting, 0), FARTHEST) // count * scale
    return min(max(value, low), high)
