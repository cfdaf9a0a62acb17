# SPDX-License-Identifier: BSD-2-Clause-Patent
"""2^-y and 1 - 2^-y as rtl/downbeat/calculation/Exponential.scala computes them.

y = n + high / 2^9 + middle / 2^18 + low / 2^54. The decrease 1 - 2^-(y - n) is put together from those of its parts, of
which the first two are tables and the last is ln 2 x low, so that it keeps its relative precision however small y is:

    1 - (1 - a)(1 - b)(1 - c) = a + d - a d,  d = b + c - b c
"""

from __future__ import annotations

import math

from sim.golden.calculation.shifts import normalized

INTEGER_BITS, FRACTION_BITS = 6, 54
TABLE_BITS = 9
LOW_BITS = FRACTION_BITS - 2 * TABLE_BITS
MANTISSA_BITS = 36
HIGH_FRACTION, MIDDLE_FRACTION = 36, 45


def _decreases(step: int, fraction: int) -> list[int]:
    """1 - 2^(-i / 2^step) for i of 0 to 511."""
    return [round(-math.expm1(-i / (1 << step) * math.log(2)) * (1 << fraction)) for i in range(1 << TABLE_BITS)]


HIGH = _decreases(TABLE_BITS, HIGH_FRACTION)
MIDDLE = _decreases(2 * TABLE_BITS, MIDDLE_FRACTION)
# ln 2 with 20 fraction bits: four times an 18-bit factor, and one.
LN2_QUARTERS = 181704


def decrease(fraction: int) -> int:
    """1 - 2^-f with 54 fraction bits, of f (54 fraction bits, below 1)."""
    high = HIGH[fraction >> FRACTION_BITS - TABLE_BITS]
    middle = MIDDLE[fraction >> LOW_BITS & (1 << TABLE_BITS) - 1]
    low = fraction & (1 << LOW_BITS) - 1
    small = (4 * LN2_QUARTERS + 1) * low >> 20
    both = (middle >> 18) * (small >> 18)
    inner = (middle << 9) + small - (both >> 9)
    return (high << 18) + inner - ((inner >> 9) * high >> 27)


def factor(y: int, *, decay: bool) -> tuple[int, int]:
    """1 - 2^-y if `decay`, else 2^-y, of y (60 bits, 54 of them fraction), as (m, n): m x 2^-36 x 2^-n. 1 is just
    missed."""
    exponent, decreased = y >> FRACTION_BITS, decrease(y & (1 << FRACTION_BITS) - 1)
    left = ((1 << MANTISSA_BITS) - 1 - (decreased >> FRACTION_BITS - MANTISSA_BITS)) << FRACTION_BITS - MANTISSA_BITS
    if not decay:
        mantissa, zeros = normalized(left, FRACTION_BITS)
        return mantissa >> FRACTION_BITS - MANTISSA_BITS, exponent + zeros
    lost = (1 << FRACTION_BITS) - 1 - (left >> exponent) if exponent else decreased
    mantissa, zeros = normalized(lost, FRACTION_BITS)
    return mantissa >> FRACTION_BITS - MANTISSA_BITS, zeros
