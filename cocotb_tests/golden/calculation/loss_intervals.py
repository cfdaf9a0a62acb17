# SPDX-License-Identifier: BSD-2-Clause-Patent
"""WALI-32, the weighted mean of a connection's last 32 loss intervals, as rtl/downbeat/calculation/LossIntervals.scala.

w_i = 17 for i <= 16 and 33 - i beyond, i = 1 for the newest: mean = floor(256 sum(w_i I_i) / sum(w_i)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cocotb_tests.golden.congestion.word import Word

ENTRIES = 32
LONGEST = (1 << 20) - 1  # packets
WEIGHTS = [17 if i <= 16 else 33 - i for i in range(1, ENTRIES + 1)]
MEAN_BITS = 28


@dataclass(frozen=True)
class Question(Word):
    """The interval that goes to `place`, and of how many intervals, this one included, the mean is to be told."""

    interval: int  # bytes
    segment_size: int
    place: int
    count: int

    FIELDS = (("interval", 32), ("segment_size", 16), ("place", 5), ("count", 6))


@dataclass(frozen=True)
class Mean(Word):
    """The answer; packets with 8 fraction bits."""

    mean: int
    newest: int  # of the 16 newest
    fallen: int  # a flag: the mean of the four newest is below half of `mean`

    FIELDS = (("mean", MEAN_BITS), ("newest", MEAN_BITS), ("fallen", 1))


class History:
    """One connection's intervals."""

    def __init__(self) -> None:
        self._packets = [0] * ENTRIES

    def answer(self, question: Question) -> Mean:
        longest = question.interval >= 1 << 31
        self._packets[question.place] = LONGEST if longest else min(question.interval // question.segment_size, LONGEST)
        newest_first = [self._packets[(question.place - i) % ENTRIES] for i in range(question.count)]
        weighted = sum(w * i for w, i in zip(WEIGHTS, newest_first, strict=False))
        mean = 256 * weighted // sum(WEIGHTS[: question.count])
        return Mean(mean, 16 * sum(newest_first[:16]), int(128 * sum(newest_first[:4]) < mean))


@dataclass(frozen=True)
class LossIntervals:
    name: str = "lossintervals"
    question_bits: int = Question.bits()

    def unit(self) -> Callable[[int], int]:
        history = History()
        return lambda question: history.answer(Question.unpacked(question)).packed()


CALCULATOR = LossIntervals()
