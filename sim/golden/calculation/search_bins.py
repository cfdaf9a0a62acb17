# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The bins of SEARCH and their comparison, as rtl/downbeat/calculation/SearchBins.scala (draft-chung-ccwg-search).

A bin is 0.35 of the initial round trip. What was delivered in the last ten bins is compared with what was sent in the
ten bins one round trip before, interpolated in 256ths; 26 % less ends slow start. The round trip before is where as
much had been sent as is acknowledged now. Bytes are in units of 256.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sim.golden.calculation.divider import quotient
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import wrap

WINDOW = 10  # bins
MAX_BINS = 15  # bins of a round trip
PLACES = 32
COUNT_BITS = 24


@dataclass(frozen=True)
class Request(PackedFields):
    """As the wires have it; times in ns."""

    initial: int = 0
    late: int = 0
    index: int = 0
    acked: int = 0
    sent: int = 0
    begins: int = 0

    FIELDS = (
        ("initial", 36),
        ("late", 36),
        ("index", 6),
        ("acked", COUNT_BITS),
        ("sent", COUNT_BITS),
        ("begins", 1),
    )


@dataclass(frozen=True)
class Response(PackedFields):
    """`step` in ns."""

    step: int = 0
    index: int = 0
    exits: int = 0
    restarts: int = 0

    FIELDS = (("step", 40), ("index", 6), ("exits", 1), ("restarts", 1))


@dataclass
class Bins:
    """The state that the unit keeps of a connection: bytes acknowledged and sent at the end of each bin."""

    acked: list[int] = field(default_factory=lambda: [0] * PLACES)
    sent: list[int] = field(default_factory=lambda: [0] * PLACES)

    def response(self, requested: int) -> int:
        request = Request.unpacked(requested)
        duration = 35 * request.initial // 100
        if request.begins:
            self._store(0, request.acked, request.sent)
            return Response(duration).packed()
        late = quotient(request.late, duration, 64)
        if late >= WINDOW:
            return Response(duration, request.index, restarts=True).packed()
        index = request.index
        former = self.acked[index % PLACES], self.sent[index % PLACES]
        for _ in range(late):
            index = _after(index)
            self._store(index, *former)
        index = _after(index)
        self._store(index, request.acked, request.sent)
        return Response((late + 1) * duration, index, self._exits(index)).packed()

    def _store(self, index: int, acked: int, sent: int) -> None:
        self.acked[index % PLACES], self.sent[index % PLACES] = acked, sent

    def _exits(self, index: int) -> bool:
        acked, back = self.acked[index % PLACES], 0
        while self._ahead(index - back, acked) > 0:
            back += 1
            if back > MAX_BINS:
                return False
        before = index - back + 1
        if back == 0 or before <= WINDOW:
            return False
        above = self.sent[before % PLACES]
        span = wrap(above - self.sent[(before - 1) % PLACES], COUNT_BITS)
        fraction = wrap(quotient(wrap(above - acked, COUNT_BITS) << 8, span, 64), 9)
        delivered = _grown(self.acked, index)
        later = _grown(self.sent, before) * wrap(256 - fraction, 9)
        sent = wrap(_grown(self.sent, before - 1) * fraction + later, 33)
        return sent > 0 and 37 * sent >= 50 * 256 * delivered

    def _ahead(self, index: int, acked: int) -> int:
        """How much more had been sent at a bin's end."""
        difference = wrap(self.sent[index % PLACES] - acked, COUNT_BITS)
        return difference - (difference >> COUNT_BITS - 1 << COUNT_BITS)


def _after(index: int) -> int:
    return index + 1 if index < 63 else 32


def _grown(bins: list[int], index: int) -> int:
    """Over a window that ends with a bin."""
    return wrap(bins[index % PLACES] - bins[(index - WINDOW) % PLACES], COUNT_BITS)


@dataclass(frozen=True)
class SearchBins:
    name: str = "searchbins"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        return Bins().response


CALCULATOR = SearchBins()
