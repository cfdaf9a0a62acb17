# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The exponential as the thesis computes it (Iguchi, 3.2), to compare with: no RTL does it so.

`published` is the thesis's: a table of e^a for the whole number a below x, times a polynomial of degree 4 (Taylor's) of
what is left. `nearest` is e^-x with the whole number nearby, so that the polynomial has less to do: nine times better.
"""

from __future__ import annotations

import math

# x has 24 fraction bits, responses have 30.
X_BITS, RESPONSE_BITS = 24, 30
ONE = 1 << RESPONSE_BITS
THIRD = ONE // 3
GROWTHS = [round(math.exp(whole) * ONE) for whole in range(20)]
DECAYS = [round(math.exp(-whole) * ONE) for whole in range(21)]


def published(x: int) -> int:
    """e^x, x below 20."""
    whole = x >> X_BITS
    return GROWTHS[whole] * _polynomial((whole << X_BITS) - x) >> RESPONSE_BITS


def nearest(x: int) -> int:
    """e^-x; 0 from 20.5 on."""
    whole = (x + (1 << (X_BITS - 1))) >> X_BITS
    if whole >= len(DECAYS):
        return 0
    return DECAYS[whole] * _polynomial(x - (whole << X_BITS)) >> RESPONSE_BITS


def _polynomial(fraction: int) -> int:
    """e^-f as 1 - f (1 - f/2 (1 - f/3 (1 - f/4))), of f from -1 to 1/2."""
    f = fraction << RESPONSE_BITS - X_BITS
    value = ONE - (f >> 2)
    value = ONE - ((f * value >> RESPONSE_BITS) * THIRD >> RESPONSE_BITS)
    value = ONE - (f * value >> RESPONSE_BITS + 1)
    return ONE - (f * value >> RESPONSE_BITS)
