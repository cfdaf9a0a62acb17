# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The rate that a path takes, from pairs sent x apart that come out y apart, as rtl/downbeat/calculation/GapFit.scala.

Yu, thesis, 4.2 to 4.4. Gaps are shifted right until y0 has 20 bits; a class is floor(32 x / y0) about 32 {1, 1.5, 2,
4}; d0 is the mean x of the first class with sum(y) <= 1.05 sum(x), and d = y0 if that is the first class; else the line
through the classes up to it meets y = x at d, at most d0, at least y0; no estimate where its slope is 1 or more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields

from sim.golden.calculation.gap_window import window
from sim.golden.congestion.packed_fields import PackedFields

FIRST_BITS = 20  # bits of y0
MAX_Y = (1 << 23) - 1
MAX_SAMPLES = 16  # samples of a class
MAX_TIME = (1 << 36) - 1  # ns
CLASSES = ((30, 34), (45, 51), (60, 68), (120, 136))  # from and below, in y0 / 32
GAP_BITS = 48  # bits of the estimate
D_BITS = 32


@dataclass(frozen=True)
class Request(PackedFields):
    """As the wires have it; gaps in ns."""

    first_gap: int = 0
    departure_gap: int = 0
    arrival_gap: int = 0
    round_trip: int = 0
    cwnd: int = 0
    segment_size: int = 0
    begins: int = 0
    sampled: int = 0
    estimates: int = 0

    FIELDS = (
        ("first_gap", 36),
        ("departure_gap", 36),
        ("arrival_gap", 36),
        ("round_trip", 36),
        ("cwnd", 32),
        ("segment_size", 16),
        ("begins", 1),
        ("sampled", 1),
        ("estimates", 1),
    )


@dataclass
class Sums:
    """Over the samples of a class."""

    count: int = 0
    x: int = 0
    y: int = 0
    xx: int = 0
    xy: int = 0

    def add(self, x: int, y: int) -> None:
        self.count, self.x, self.y = self.count + 1, self.x + x, self.y + y
        self.xx, self.xy = self.xx + x * x, self.xy + x * y


@dataclass
class Samples:
    """The state that the unit keeps of a connection."""

    classes: list[Sums] = field(default_factory=lambda: [Sums() for _ in CLASSES])

    def response(self, requested: int) -> int:
        """`value` in 36 bits, and `holds` above them."""
        request = Request.unpacked(requested)
        if request.estimates:
            gap = self.gap(request.first_gap)
            if gap is None:
                return 0
            round_trip = request.round_trip >> _excess(request.first_gap)
            return 1 << 36 | window(round_trip, gap, request.segment_size)
        if request.begins:
            self.classes = [Sums() for _ in CLASSES]
        counted = bool(request.sampled) and self._count(request)
        return int(counted) << 36 | spacing(request.round_trip, request.cwnd, request.segment_size)

    def _count(self, request: Request) -> bool:
        excess = _excess(request.first_gap)
        first, x = request.first_gap >> excess, request.departure_gap >> excess
        place = 32 * x // first if first else -1
        for (start, end), sums in zip(CLASSES, self.classes, strict=True):
            if start <= place < end and sums.count < MAX_SAMPLES:
                sums.add(x, min(request.arrival_gap >> excess, MAX_Y))
                return True
        return False

    def gap(self, first_gap: int) -> int | None:
        """The estimate in units of 2^sh ns, if there is one."""
        first = first_gap >> _excess(first_gap)
        bound, used = None, len(CLASSES)
        for index, sums in enumerate(self.classes):
            if sums.count and 20 * (sums.y - sums.x) <= sums.x:
                if index == 0:
                    return first
                bound, used = sums.x // sums.count, index + 1
                break
        n, x, y, xx, xy = (sum(getattr(sums, each.name) for sums in self.classes[:used]) for each in fields(Sums))
        d = n * xx - x * x
        e = d - (n * xy - x * y)
        if e <= 0:
            return None
        shift = max(0, d.bit_length() - D_BITS)
        d, e = d >> shift, e >> shift
        if e == 0:
            return None
        moved = abs(y - x) * d // e
        meets = x + (moved if y >= x else -moved)
        estimate = min(meets // n, (1 << GAP_BITS) - 1) if meets > 0 else 0
        return max(estimate if bound is None else min(estimate, bound), first)


def _excess(first_gap: int) -> int:
    return max(0, first_gap.bit_length() - FIRST_BITS)


def spacing(round_trip: int, cwnd: int, segment_size: int) -> int:
    """2 R / cwnd in segments, ns: between the first packets of two pairs (thesis, 4.3)."""
    return min(2 * round_trip * segment_size // cwnd if cwnd else MAX_TIME, MAX_TIME)


@dataclass(frozen=True)
class GapFit:
    name: str = "gapfit"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        return Samples().response


CALCULATOR = GapFit()
