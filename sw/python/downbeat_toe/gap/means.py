# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Means of gap errors with their uncertainty."""

from __future__ import annotations

import numpy as np

from downbeat_toe.gap.statistics import Floats


def mean(values: Floats) -> dict[str, float | None]:
    """The mean, its standard error, and half its 95 % interval by Student's t; None where one value is all there is.

    Neighbouring gaps share a stamp, so the error allows for correlation: Newey and West, Econometrica 55, 1987, with
    Bartlett's weights up to the lag n^(1/3).
    """
    count, value = len(values), float(values.mean())
    if count < 2:
        return {"value": value, "standard_error": None, "half_width": None}
    away, lags = values - value, round(count ** (1 / 3))
    variance = float(np.mean(away**2))
    for lag in range(1, min(lags, count - 1) + 1):
        variance += 2 * (1 - lag / (lags + 1)) * float(np.sum(away[lag:] * away[:-lag])) / count
    error = float(np.sqrt(max(variance, 0.0) / (count - 1)))
    return {"value": value, "standard_error": error, "half_width": _student(count - 1) * error}


def _student(freedom: int) -> float:
    """The 97.5 % point of Student's t, by Fisher's expansion about the normal's."""
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
