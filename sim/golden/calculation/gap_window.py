# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The window of a gap, as rtl/downbeat/calculation/GapWindow.scala: floor(R / gap) segments in bytes, at most 1 GiB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sim.golden.congestion.seam import MAXIMUM_WINDOW, wrap

GAP_BITS = 36  # ns
SIZE_BITS = 16


def request(gap: int, round_trip: int, segment_size: int) -> int:
    """gap and round trip in ns, segment size in bytes."""
    return (segment_size << GAP_BITS | round_trip) << GAP_BITS | gap


def window(round_trip: int, gap: int, segment_size: int) -> int:
    """Bytes. Without a gap as many as there can be."""
    segments = round_trip // gap if gap else (1 << GAP_BITS) - 1
    return min(segments * segment_size, MAXIMUM_WINDOW)


@dataclass(frozen=True)
class GapWindow:
    name: str = "gapwindow"
    request_bits: int = 2 * GAP_BITS + SIZE_BITS

    def unit(self) -> Callable[[int], int]:
        return self._response

    @staticmethod
    def _response(requested: int) -> int:
        gap, round_trip = wrap(requested, GAP_BITS), wrap(requested >> GAP_BITS, GAP_BITS)
        return window(round_trip, gap, requested >> 2 * GAP_BITS)


CALCULATOR = GapWindow()
