# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic window of rtl/downbeat/calculation/LogisticUnit.scala, bit for bit (Iguchi, thesis, Eq. 10).

    w' = b s / (s + (b - s) f),  b and s the larger and the smaller of w and w*,  f = e^-x if w grows, else 1 - e^-x
    w* = {K - gamma (K - A)} tau,  x = eps t {K - gamma (K - A)} / K

which is Eq. 10 in a form without a difference of nearly equal numbers. Numbers in between are a mantissa of 36 bits and
an exponent.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.golden.calculation.divider import quotient
from sim.golden.calculation.exponential import factor
from sim.golden.calculation.shifts import normalized
from sim.golden.congestion.packed_fields import PackedFields

# Bytes per second with 10 fraction bits; ns; ns; bytes with 16 fraction bits.
RATE_BITS, ROUND_TRIP_BITS, ELAPSED_BITS, WINDOW_BITS = 44, 36, 34, 48
RATE_FRACTION_BITS = 10
MANTISSA_BITS = 36
EPSILON_BITS, GAMMA_BITS = 16, 10
EPSILONS, GAMMAS = 320, 640  # so many are 1
EPSILON, GAMMA = 624, 576  # 1.95 and 0.9, as usual
# 1 / 10^10 and log2(e) / (320 10^10), with the fraction bits of their names.
PER_SECOND_Q51 = 225180
GROWTH_Q59 = 259893
LARGE_EPSILON = 768  # from here on x has fewer fraction bits
EXPONENT_BITS = 60
QUOTIENT_BITS = 40
# A number is (e, m): m x 2^(e - 64), of 2^-16 bytes; m's top bit is set.
ONE = 64 + 12
LARGEST_EXPONENT = 64 + 15


@dataclass(frozen=True)
class LogisticRequest(PackedFields):
    capacity: int  # K, bytes per second with 10 fraction bits, 44 bits in all, not 0
    available: int  # A, in the same unit; more than K counts as K
    round_trip: int  # tau, ns, 36 bits, not 0
    elapsed: int  # t, ns, 34 bits
    window: int  # w, bytes with 16 fraction bits, 48 bits in all, not 0
    epsilon: int = EPSILON  # 320 times it, not 0
    gamma: int = GAMMA  # 640 times it, at most 620

    FIELDS = (
        ("capacity", RATE_BITS),
        ("available", RATE_BITS),
        ("round_trip", ROUND_TRIP_BITS),
        ("elapsed", ELAPSED_BITS),
        ("window", WINDOW_BITS),
        ("epsilon", EPSILON_BITS),
        ("gamma", GAMMA_BITS),
    )


def logistic_window(requested: LogisticRequest) -> int:
    """The window after `elapsed`: bytes with 16 fraction bits, rounded to the nearest, 48 ones at most."""
    capacity, shift = normalized(requested.capacity, RATE_BITS)
    competition = requested.gamma * max(requested.capacity - requested.available, 0)
    rate = (GAMMAS * requested.capacity - competition << shift) >> 18
    star = _target(rate, shift, requested.round_trip)
    window, zeros = normalized(requested.window, WINDOW_BITS)
    own = (ONE - zeros, window >> 12)

    share = quotient(rate << 24, capacity >> 12, 28)
    growth = (requested.epsilon * GROWTH_Q59 >> 8) * share
    large = requested.epsilon >= LARGE_EPSILON
    exponent = requested.elapsed * (growth >> (18 if large else 11)) >> (3 if large else 10)
    mantissa, halvings = factor(min(exponent, (1 << EXPONENT_BITS) - 1), decay=star < own)

    (big_exponent, big), (small_exponent, small) = max(star, own), min(star, own)
    ratio = big_exponent - small_exponent
    product = (big - (small >> ratio)) * mantissa >> MANTISSA_BITS
    above = ratio - halvings
    denominator = (small >> above) + product if above > 0 else small + (product >> -above)
    exponent = big_exponent - max(above, 0)
    left = quotient(big * small >> 34 << 34, denominator, QUOTIENT_BITS)
    # A quotient has 34 bits at least: beyond this the window does not fit.
    if exponent > LARGEST_EXPONENT:
        return (1 << WINDOW_BITS) - 1
    doubled = left << 16 >> LARGEST_EXPONENT - exponent
    return min(doubled + 1 >> 1, (1 << WINDOW_BITS) - 1)


def _target(rate: int, shift: int, round_trip: int) -> tuple[int, int]:
    """w*, as exponent and mantissa, of K + 9 A (36 bits, that is shifted so far) and tau."""
    time, zeros = normalized(round_trip, ROUND_TRIP_BITS)
    scaled, more = normalized((rate * time >> 36) * PER_SECOND_Q51, 54)
    return ONE + 9 - more - shift - zeros, scaled >> 18
