# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The initial window of MISS, as rtl/downbeat/calculation/MissWindow.scala: n = floor(m (t_next - now) / R) segments,
at most the host's limit, a gap of R / n apart [Yu 2009, p. 27]. The host gives m = gamma/delta and the next expected
drop.

As n in the command, the estimate would be a round trip old, and R a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from sim.golden.congestion.packed_fields import PackedFields

RATE_BITS, RATE_FRACTION = 24, 8
UNTIL_BITS = 40  # ns
ROUND_TRIP_BITS = 36  # ns
WINDOW_BITS = 16  # segments
MAX_WINDOW = (1 << WINDOW_BITS) - 1
GAP_BITS, GAP_FRACTION = 44, 8


@dataclass(frozen=True)
class Request(PackedFields):
    rate: int  # m, 8 fraction bits
    until_drop: int  # t_next - now, ns; 0: the drop is overdue
    round_trip: int  # ns; 0: not known
    max_window: int = MAX_WINDOW  # segments

    FIELDS = (
        ("rate", RATE_BITS),
        ("until_drop", UNTIL_BITS),
        ("round_trip", ROUND_TRIP_BITS),
        ("max_window", WINDOW_BITS),
    )

    @classmethod
    def at(cls, rate: int, next_drop: int, now: int, round_trip: int, max_window: int = MAX_WINDOW) -> Self:
        """With times of the core; a time that 40 bits do not hold is all ones."""
        return cls(rate, min(max(next_drop - now, 0), (1 << UNTIL_BITS) - 1), round_trip, max_window)


@dataclass(frozen=True)
class Response(PackedFields):
    """No segments where nothing can be said."""

    window: int  # segments
    gap: int  # ns, 8 fraction bits

    FIELDS = (("window", WINDOW_BITS), ("gap", GAP_BITS))


def segments(request: Request) -> int:
    """n; 0 where nothing can be said."""
    if request.round_trip == 0:
        return 0
    return min(request.rate * request.until_drop // (request.round_trip << RATE_FRACTION), request.max_window)


@dataclass(frozen=True)
class MissWindow:
    name: str = "misswindow"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        return self._response

    @staticmethod
    def _response(requested: int) -> int:
        request = Request.unpacked(requested)
        window = segments(request)
        return Response(window, (request.round_trip << GAP_FRACTION) // window if window else 0).packed()


CALCULATOR = MissWindow()
