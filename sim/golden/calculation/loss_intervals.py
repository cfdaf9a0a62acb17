# SPDX-License-Identifier: BSD-2-Clause-Patent
"""WALI-32, the weighted mean of a connection's last 32 loss intervals, as rtl/downbeat/calculation/LossIntervals.scala.

With a history of h intervals, i = 1 for the newest: w_i = h + 1 - max(i, floor(h / 2)), so with 32 that is 17 for
i <= 16 and 33 - i beyond; mean = floor(256 sum(w_i I_i) / sum(w_i)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sim.golden.congestion.packed_fields import PackedFields

ENTRIES = 32
LONGEST = (1 << 20) - 1  # packets
MEAN_BITS = 28
VARIANCE = 10  # percent, as usual


@dataclass(frozen=True)
class Request(PackedFields):
    """The interval that goes to `place`, and of how many intervals, this one included, the mean is wanted."""

    interval: int  # bytes
    segment_size: int
    place: int
    count: int
    history: int = ENTRIES  # intervals of the whole history, 4 to 32
    before: int = 0  # the mean before, packets with 8 fraction bits
    variance: int = VARIANCE  # percent of the mean

    FIELDS = (
        ("interval", 32),
        ("segment_size", 16),
        ("place", 5),
        ("count", 6),
        ("history", 6),
        ("before", MEAN_BITS),
        ("variance", 7),
    )


@dataclass(frozen=True)
class Mean(PackedFields):
    """The response; packets with 8 fraction bits."""

    mean: int
    newest: int  # mean of the newest half of the history
    fallen: int  # a flag: the mean of the four newest is below half of `mean`
    moved: int  # a flag: 100 |mean - before| > variance before

    FIELDS = (("mean", MEAN_BITS), ("newest", MEAN_BITS), ("fallen", 1), ("moved", 1))


def weights(history: int) -> list[int]:
    """The weights of a history of so many intervals, the newest first."""
    return [history + 1 - max(i, history // 2) for i in range(1, history + 1)]


class History:
    """One connection's intervals."""

    def __init__(self) -> None:
        self._packets = [0] * ENTRIES

    def response(self, request: Request) -> Mean:
        longest = request.interval >= 1 << 31
        self._packets[request.place] = LONGEST if longest else min(request.interval // request.segment_size, LONGEST)
        newest_first = [self._packets[(request.place - i) % ENTRIES] for i in range(request.count)]
        counted = list(zip(weights(request.history), newest_first, strict=False))
        mean = 256 * sum(w * i for w, i in counted) // sum(w for w, _ in counted)
        half = request.history // 2
        return Mean(
            mean,
            256 * sum(newest_first[:half]) // half,
            int(128 * sum(newest_first[:4]) < mean),
            int(100 * abs(mean - request.before) > request.variance * request.before),
        )


@dataclass(frozen=True)
class LossIntervals:
    name: str = "lossintervals"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        history = History()
        return lambda request: history.response(Request.unpacked(request)).packed()


CALCULATOR = LossIntervals()
