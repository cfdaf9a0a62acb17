# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Launch times of measurement traffic: pairs, trains, chirps, Poisson arrivals, a constant rate.

Times are ns from the first launch, rounded once from exact fractions, so that no rate drifts. A rate counts the bits of
a frame of `length` bytes without FCS. A pattern repeats every `period` ns.

    train    n frames `gap` apart                    (pairs: n = 2)
    chirp    n frames; each gap is the one before it / factor (Ribeiro et al., pathChirp, PAM 2003)
    poisson  gaps are exponential, mean `gap`        (RFC 2330, 11.1.1)
    paced    frames at a constant rate
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction

from downbeat_toe.refused import Refused
from downbeat_toe.schedule import NANOSECONDS

Exact = int | Fraction


def interval(length: int, rate: int) -> Fraction:
    """ns from frame to frame of `length` bytes at `rate` bits a second."""
    return Fraction(8 * length * NANOSECONDS, rate)


def train(frames: int, gap: Exact, trains: int = 1, period: Exact = 0) -> Iterator[int]:
    numerator, denominator = Fraction(gap).as_integer_ratio()
    yield from _repeated([Fraction(number * numerator, denominator) for number in range(frames)], trains, period)


def chirp(frames: int, first: Exact, last: Exact, chirps: int = 1, period: Exact = 0) -> Iterator[int]:
    """Gaps from `first` down to `last` ns (or up), each the same factor from the one before it."""
    factor = (float(last) / float(first)) ** (1 / max(1, frames - 2))
    offsets, at = [Fraction(0)], Fraction(0)
    for number in range(frames - 1):
        at += Fraction(float(first) * factor**number)
        offsets.append(at)
    yield from _repeated(offsets, chirps, period)


def poisson(frames: int, gap: Exact, seed: int, least: Exact = 0) -> Iterator[int]:
    """Gaps have the mean `gap`, and are `least` ns or more: a frame waits until the one ahead has left the wire."""
    draw, due, free = random.Random(seed), 0.0, 0.0
    for _ in range(frames):
        at = max(due, free)
        yield round(at)
        free = round(at) + float(least)
        due += draw.expovariate(1 / float(gap))


def paced(frames: int, length: int, rate: int) -> Iterator[int]:
    return _repeated([Fraction(0)], frames, interval(length, rate))


def _repeated(offsets: list[Fraction], count: int, period: Exact) -> Iterator[int]:
    if count > 1 and period <= offsets[-1]:
        raise Refused(
            f"the next one is to begin {float(period):,.0f} ns after one that takes {float(offsets[-1]):,.0f} ns: "
            "give a longer --every"
        )
    # In units that all of them are multiples of: whole numbers are faster than fractions.
    per_ns = math.lcm(Fraction(period).denominator, *(offset.denominator for offset in offsets))
    units, step = [int(offset * per_ns) for offset in offsets], int(period * per_ns)
    for number in range(count):
        for offset in units:
            yield (2 * (number * step + offset) + per_ns) // (2 * per_ns)
