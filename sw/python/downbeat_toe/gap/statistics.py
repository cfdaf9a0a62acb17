# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The figures of `downbeat gap`: drift by a robust fit, percentiles, histogram, Allan deviation.

    time error  x(t) = stamp - launch               t: launch
    drift       x(t) = offset + slope t + rest      Theil's incomplete method [1], then Huber's M-estimate [2]
    Allan       s(T)^2 = < (x(t + 2T) - 2 x(t + T) + x(t))^2 > / 2 T^2     overlapping [3]

[1] H. Theil, A rank-invariant method of linear and polynomial regression analysis, 1950. [2] P. Huber, Robust
Statistics, 1981. [3] W. Riley, Handbook of Frequency Stability Analysis, NIST SP 1065, 2008, 5.2.4. Frames do not leave
at equal intervals, so x(t + T) is the frame nearest to that time, within T/10; at equal intervals it is the usual
estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

PERCENTILES = (0.1, 1, 5, 25, 50, 75, 95, 99, 99.9)
DISTANCES = (50, 95, 99, 99.9)
MOST = (1, 99)  # percentiles between which the histogram looks, and a little beyond
BINS = 101
HUBER = 1.345  # scales: 95 % efficient where errors are normal
MAD_TO_SIGMA = 1.4826
ROUNDS = 50
NEAR = 0.1  # of the interval T
ROUNDING = 1e-12
TAUS_PER_OCTAVE = 2
FEWEST = 8  # samples: triples of a point of the Allan deviation, frames beside a change of level
BESIDE_A_CHANGE = 50  # frames
CHANGE_SIGMAS = 8
SMALLEST_CHANGE = 1000.0  # ns
MAX_CHANGES = 16  # in one capture
SMALLEST_SLOPE = 1e-15  # a smaller uncertainty is of rounding
WIRE = 0.99  # share of the time that a frame occupies: stamps have errors
CANDIDATES = 8  # largest moves, for a change of level


@dataclass(frozen=True)
class Line:
    """offset + slope t, and the slope's standard uncertainty if the rest is white."""

    offset: float
    slope: float
    uncertainty: float


def fit(times: Floats, errors: Floats) -> Line:
    """A straight line that outliers do not move."""
    half = len(times) // 2
    if half == 0 or times[-1] == times[0]:
        return Line(float(np.median(errors)), 0.0, float("inf"))
    later, sooner = slice(len(times) - half, None), slice(None, half)
    runs = times[later] - times[sooner]
    slope = float(np.median((errors[later] - errors[sooner])[runs > 0] / runs[runs > 0]))
    offset = float(np.median(errors - slope * times))
    weights = np.ones_like(times)
    for _ in range(ROUNDS):
        rest = errors - offset - slope * times
        scale = MAD_TO_SIGMA * float(np.median(np.abs(rest - np.median(rest))))
        if scale == 0:
            break
        weights = np.minimum(1, HUBER * scale / np.maximum(np.abs(rest), HUBER * scale))
        middle, level = np.average(times, weights=weights), np.average(errors, weights=weights)
        before = slope
        slope = float(np.sum(weights * (times - middle) * (errors - level)) / np.sum(weights * (times - middle) ** 2))
        offset = float(level - slope * middle)
        if abs(slope - before) * (times[-1] - times[0]) < 1e-6 * scale:
            break
    rest = errors - offset - slope * times
    spread = np.sum(weights * (times - np.average(times, weights=weights)) ** 2)
    sigma = np.sqrt(np.average(rest**2, weights=weights)) if len(times) > 2 else float("inf")
    return Line(offset, slope, float(sigma / np.sqrt(spread)))


def fit_between(times: Floats, errors: Floats, changes: list[int]) -> tuple[Line, Floats, list[Line]]:
    """One slope for the parts between the changes; each frame's offset; and the line of each part by itself."""
    if not changes:
        line = fit(times, errors)
        return line, np.full_like(errors, line.offset), [line]
    edges = [0, *changes, len(times)]
    parts = [slice(begin, end) for begin, end in pairwise(edges)]
    lines = [fit(times[part], errors[part]) for part in parts]
    weights = np.array([1 / max(line.uncertainty, SMALLEST_SLOPE) ** 2 for line in lines])
    slope = float(np.average([line.slope for line in lines], weights=weights))
    offsets = np.concatenate(
        [np.full(len(times[part]), np.median(errors[part] - slope * times[part])) for part in parts]
    )
    return Line(float(offsets[0]), slope, float(1 / np.sqrt(weights.sum()))), offsets, lines


def allan(times: Floats, errors: Floats) -> list[dict[str, float]]:
    """Overlapping Allan deviation: interval in ns, deviation, triples that it rests on. Times rise."""
    step = float(np.median(np.diff(times))) if len(times) > 2 else 0.0
    if step == 0:
        return []
    octaves = np.log2(max(1.0, (times[-1] - times[0]) / 2 / step))
    steps = {round(2 ** (reach / TAUS_PER_OCTAVE)) for reach in range(int(octaves * TAUS_PER_OCTAVE) + 1)}
    points = (deviation(times, errors, step * count) for count in sorted(steps))
    return [point for point in points if point is not None]


def deviation(times: Floats, errors: Floats, tau: float) -> dict[str, float] | None:
    """One point of it, unless too few frames lie so far apart."""
    first, second = _nearest(times, times + tau), _nearest(times, times + 2 * tau)
    near = times + 2 * tau <= times[-1] * (1 + ROUNDING)
    near &= np.abs(times[first] - times - tau) <= NEAR * tau
    near &= np.abs(times[second] - times - 2 * tau) <= NEAR * tau
    triples = int(np.count_nonzero(near))
    if triples < FEWEST:
        return None
    bend = (errors[second] - 2 * errors[first] + errors)[near]
    return {"tau_ns": tau, "deviation": float(np.sqrt(np.mean(bend**2) / 2) / tau), "triples": triples}


def unhindered(times: Floats, stamps: Floats, lengths: Indices) -> Indices:
    """Frames (indices) that wait for no frame before them, on a wire as fast as the nearest two stamps show.

    Those that wait, in the bursts of a sender without a pace, move the time error by their queue: no clock does so.
    """
    apart, sizes = np.diff(stamps), np.minimum(lengths[:-1], lengths[1:]).astype(float)
    if not len(apart) or np.any(apart <= 0):
        return np.arange(len(times))
    wire = np.concatenate([[0.0], np.cumsum(sizes * np.min(apart / sizes) * WIRE)])
    return np.flatnonzero(np.maximum.accumulate(times - wire) <= times - wire)


def level_changes(times: Floats, errors: Floats) -> list[int]:
    """Frames at which the time error moves at once and stays: a clock that was set, or another path.

    Each is found before a line is fitted, because a line through it has a slope that no clock has.
    """
    apart = np.diff(times)
    usual = float(np.median(np.diff(errors)[apart > 0] / apart[apart > 0])) if np.any(apart > 0) else 0.0
    rest, found, parts = errors - usual * times, list[int](), [(0, len(times))]
    while parts and len(found) < MAX_CHANGES:
        begin, end = parts.pop()
        if (change := _level_change(rest[begin:end])) is not None:
            at = begin + change
            found.append(at)
            parts += [(begin, at), (at, end)]
    return sorted(found)


def _level_change(rest: Floats) -> int | None:
    if len(rest) < 2 * FEWEST:
        return None
    largest = np.argsort(-np.abs(np.diff(rest)), kind="stable")[:CANDIDATES] + 1  # frames that waited are among them
    for at in largest.tolist():
        before, after = rest[max(0, at - BESIDE_A_CHANGE) : at], rest[at : at + BESIDE_A_CHANGE]
        if min(len(before), len(after)) < FEWEST:
            continue
        levels = float(np.median(before)), float(np.median(after))
        noise = MAD_TO_SIGMA * float(np.median(np.abs(np.concatenate([before - levels[0], after - levels[1]]))))
        change = levels[1] - levels[0]
        if abs(change) > max(CHANGE_SIGMAS * noise, SMALLEST_CHANGE):
            return int(at)
    return None


def percentiles(values: Floats) -> dict[str, float]:
    """Percentiles of signed values, and of their distances from zero."""
    found = np.percentile(values, PERCENTILES)
    named = {f"p{percent:g}": float(value) for percent, value in zip(PERCENTILES, found, strict=True)}
    away = np.percentile(np.abs(values), DISTANCES)
    distances = {f"distance_p{percent:g}": float(value) for percent, value in zip(DISTANCES, away, strict=True)}
    ends = {"minimum": float(values.min()), **named, "maximum": float(values.max())}
    moments = {"mean": float(values.mean()), "standard_deviation": float(values.std())}
    return {**ends, **moments, **distances, "worst": float(np.abs(values).max())}


def histogram(values: Floats) -> dict[str, Any]:
    """Of most values, in bins of a whole ns or more; what lies outside is counted beside it."""
    low, high = np.percentile(values, MOST)
    low, high = low - (high - low) / 4, high + (high - low) / 4
    width = max(1.0, float(np.ceil((high - low) / BINS)))
    start = np.floor(low / width) * width - width / 2
    edges = start + width * np.arange(int((high - start) // width) + 2)
    counts, _ = np.histogram(values, edges)
    below, above = int(np.count_nonzero(values < edges[0])), int(np.count_nonzero(values > edges[-1]))
    return {"edges_ns": edges.tolist(), "counts": counts.tolist(), "below": below, "above": above}


def _nearest(times: Floats, wanted: Floats) -> Indices:
    right = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
    return np.asarray(right - (wanted - times[right - 1] < times[right] - wanted), np.int64)
