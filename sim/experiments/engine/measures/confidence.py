# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Means over runs, with Student's 95 % confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import fmean, stdev

# The 97.5 % point of Student's t with 1, 2, ... degrees of freedom, as any table has it.
_POINTS = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)


@dataclass(frozen=True)
class Estimate:
    mean: float
    half_width: float  # half of the confidence interval; infinite for a single run

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width


def estimate(values: Sequence[float]) -> Estimate:
    if len(values) < 2:
        return Estimate(fmean(values), inf)
    point = _POINTS[min(len(values) - 1, len(_POINTS)) - 1]
    return Estimate(fmean(values), point * stdev(values) / sqrt(len(values)))
