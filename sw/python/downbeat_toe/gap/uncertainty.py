# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The uncertainty of one measured gap: a distribution for each cause, combined by draws (JCGM 101:2008, clause 7).

    two stamps of step q     triangular on (-q, q)            u = q / sqrt(6)
    the kernel's stamps      gap errors of the self-test, in place of the stamps' step
    drift after the fit      normal, u = gap x u(slope); an even +-200 ppm where the fit knows nothing
    drift, not removed       the same around gap x slope
    wander                   normal, u = gap x what the Allan deviation has more than white noise

x is the smallest figure that |sum of the causes| does not exceed with a probability of 95 %. Twice the root of the sum
of squares would be right for a normal sum alone: two stamps of one step have 97 % within it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from downbeat_toe.gap.statistics import Floats

LEVEL = 0.95
DRAWS = 40_000  # 0.11 % of probability at the 95 % point
SEED = 1  # one report, one figure
LARGEST_DRIFT = 200e-6  # IEEE 802.3: 100 ppm for each of two clocks
LARGEST_WANDER = 1e-7  # of a crystal in minutes; more is the path's
FREEDOM = 10  # intervals of the longest Allan deviation that is trusted
SIGNIFICANT = 2.0  # standard deviations


@dataclass(frozen=True)
class Cause:
    name: str
    draws: Floats  # ns

    @property
    def standard(self) -> float:
        """ns; of a heavy tail it says little: the interval is of the draws."""
        return float(np.sqrt(np.mean(self.draws**2)))


def stamps(name: str, step: float) -> Cause:
    """The difference of two stamps that are cut to a step (ns), each anywhere in it."""
    first, second = _uniform()[:2]
    return Cause(name, step * (first - second))


def measured(name: str, quantiles: Floats) -> Cause:
    """Errors of whose distribution the quantiles are known, at equal steps of probability from 0 to 1."""
    return Cause(name, np.interp(_uniform()[2], np.linspace(0, 1, len(quantiles)), quantiles))


def drift(gap: float, slope: float | None, left: float = 0.0) -> Cause:
    """`slope`: standard uncertainty of the fitted one; None: no fit. `left`: the fitted slope, if it was not removed."""
    if slope is None or slope > LARGEST_DRIFT / np.sqrt(3):
        return Cause("drift, unknown: 200 ppm", gap * LARGEST_DRIFT * (2 * _uniform()[3] - 1))
    return Cause("drift, not removed" if left else "drift after the fit", gap * (left + slope * _normal()[0]))


def wander(gap: float, deviation: float) -> Cause:
    return Cause("wander", gap * min(deviation, LARGEST_WANDER) * _normal()[1])


def half_width(causes: list[Cause]) -> float:
    """ns: with probability LEVEL the sum of the causes is no further from zero."""
    total = np.abs(np.sum([cause.draws for cause in causes], axis=0))
    return float(np.quantile(total, LEVEL))


def wander_of(allan: list[dict[str, float]], span: float) -> float:
    """What the Allan deviation at a tenth of the capture (`span`, ns) has more than white noise of the stamps leaves
    there.

    White noise falls with the interval (slope -1): the shortest interval says how much of it there is.
    """
    trusted = [point for point in allan if point["tau_ns"] * FREEDOM <= span]
    if len(trusted) < 2:
        return 0.0
    shortest, longest = trusted[0], trusted[-1]
    white = shortest["deviation"] * shortest["tau_ns"] / longest["tau_ns"]
    threshold = white**2 * (1 + SIGNIFICANT * np.sqrt(2 * longest["tau_ns"] / span))
    found = longest["deviation"] ** 2
    return float(np.sqrt(found - white**2)) if found > threshold else 0.0


def quantiles(values: Floats, count: int = 1001) -> list[float]:
    """What `measured` takes; for a report."""
    return [float(value) for value in np.quantile(values, np.linspace(0, 1, count))]


def budget(causes: list[Cause]) -> list[dict[str, Any]]:
    return [{"cause": cause.name, "standard_uncertainty_ns": cause.standard} for cause in causes]


@functools.cache
def _uniform() -> Floats:
    return np.random.default_rng(SEED).random((4, DRAWS))


@functools.cache
def _normal() -> Floats:
    return np.random.default_rng(SEED + 1).standard_normal((2, DRAWS))
