# SPDX-License-Identifier: BSD-2-Clause-Patent
"""WALI-32, the weighted mean of a connection's last 32 loss intervals, as rtl/downbeat/calculation/LossIntervals.scala.

w_i = 17 for i <= 16 and 33 - i beyond, i = 1 for the newest: mean = floor(256 sum(w_i I_i) / sum(w_i)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sim.golden.congestion.packed_fields import PackedFields

ENTRIES = 32
LONGEST = (1 << 20) - 1  # packets
WEIGHTS = [17 if i <= 16 else 33 - i for i in range(1, ENTRIES + 1)]
MEAN_BITS = 28


@dataclass(frozen=True)
class Request(PackedFields):
    """The interval that goes to `place`, and of how many intervals, this one included, the mean is wanted."""

    interval: int  # bytes
    segment_size: int
    place: int
    count: int

    FIELDS = (("interval", 32), ("segment_size", 16), ("place", 5), ("count", 6))


@dataclass(frozen=True)
class Mean(PackedFields):
    """The response; packets with 8 fraction bits."""

    mean: int
    newest: int  # mean of the 16 newest
    fallen: int  # a flag: the mean of the four newest is below half of `mean`

    FIELDS = (("mean", MEAN_BITS), ("newest", MEAN_BITS), ("fallen", 1))


class History:
    """One connection's intervals."""

    def __init__(self) -> None:
        self._packets = [0] * ENTRIES

    def response(self, request: Request) -> Mean:
        longest = request.interval >= 1 << 31
        self._packets[request.place] = LONGEST if longest else min(request.interval // request.segment_size, LONGEST)
        newest_first = [self._packets[(request.place - i) % ENTRIES] for i in range(request.count)]
        weighted = sum(w * i for w, i in zip(WEIGHTS, newest_first, strict=False))
        mean = 256 * weighted // sum(WEIGHTS[: request.count])
        return Mean(mean, 16 * sum(newest_first[:16]), int(128 * sum(newest_first[:4]) < mean))


@dataclass(frozen=True)
class LossIntervals:
    name: str = "lossintervals"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        history = History()
        return lambda request: history.response(Request.unpacked(request)).packed()


CALCULATOR = LossIntervals()
