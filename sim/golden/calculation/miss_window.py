# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The initial window of MISS in the core: the host tells m = gamma/delta and the next expected drop, the core has the
handshake's round trip R. n = floor(m (t_next - now) / R) segments, a gap of R/n apart [Yu 2009, p. 27].

Told as n with the open, the estimate would be a round trip old, and R a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from sim.golden.congestion.packed_fields import PackedFields

RATE_BITS, RATE_FRACTION = 24, 8
TIME_BITS = 48  # ns of the core's time
ROUND_TRIP_BITS = 36  # ns
WINDOW_BITS = 16  # segments
MOST_WINDOW = (1 << WINDOW_BITS) - 1


@dataclass(frozen=True)
class Request(PackedFields):
    rate: int  # m, 8 fraction bits
    until_drop: int  # t_next - now, ns; 0: the drop is overdue
    round_trip: int  # ns; 0: not known

    FIELDS = (("rate", RATE_BITS), ("until_drop", TIME_BITS), ("round_trip", ROUND_TRIP_BITS))

    @classmethod
    def at(cls, rate: int, next_drop: int, now: int, round_trip: int) -> Self:
        """With times of the core; a time that 48 bits do not hold is all ones."""
        return cls(rate, min(max(next_drop - now, 0), (1 << TIME_BITS) - 1), round_trip)


@dataclass(frozen=True)
class Start:
    """Segments, and ns between two of them; a gap of 0: standard slow start."""

    window: int
    gap: int


def segments(request: Request) -> int:
    """n, at most 65,535; 0 where nothing can be said."""
    if request.round_trip == 0:
        return 0
    return min(request.rate * request.until_drop // (request.round_trip << RATE_FRACTION), MOST_WINDOW)


def start(request: Request, initial_window: int, cap: int = MOST_WINDOW) -> Start:
    """The window is not below IW and not above what the host allows; fewer than IW segments are standard slow start."""
    window = min(segments(request), cap)
    if window < initial_window or window == 0:
        return Start(initial_window, 0)
    return Start(window, request.round_trip // window)


@dataclass(frozen=True)
class MissWindow:
    name: str = "misswindow"
    request_bits: int = RATE_BITS + TIME_BITS + ROUND_TRIP_BITS

    def unit(self) -> Callable[[int], int]:
        """The response: the gap above n."""
        return self._response

    @staticmethod
    def _response(asked: int) -> int:
        request = Request.unpacked(asked)
        window = segments(request)
        return (request.round_trip // window if window else 0) << WINDOW_BITS | window


CALCULATOR = MissWindow()
