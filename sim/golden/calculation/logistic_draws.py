# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Requests for the logistic unit over its whole range, and Eq. 10 of Iguchi's thesis in 50 digits to judge the
responses."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

from sim.golden.calculation.logistic_window import (
    EPSILON,
    EPSILON_BITS,
    GAMMA,
    GAMMAS,
    GROWTH_Q59,
    ROUND_TRIP_BITS,
    WINDOW_BITS,
    LogisticRequest,
)

# The range for which the unit promises its accuracy: bytes per second, ns, bytes.
RATES = (125, 12_500_000_000)
ROUND_TRIPS = (10_000, 1_000_000_000)
LARGEST_GAP = 10_000_000_000
WINDOWS = (2 * 64, 1 << 30)
LARGEST_GAMMA = 620
LARGEST_RATIO = 1 << 32  # window / target; beyond it, x has too few bits


def draw_request(draw: random.Random) -> LogisticRequest:
    """Any size between the bounds and the bounds themselves; a fifth of the windows near the target."""
    capacity = _between(draw, *(rate << 10 for rate in RATES))
    available = draw.choice([0, 1, capacity, capacity + 1, _between(draw, 1, capacity), draw.randint(0, capacity)])
    round_trip, elapsed = _between(draw, *ROUND_TRIPS), _between(draw, 1, LARGEST_GAP)
    if draw.random() < 0.1:
        elapsed = 0
    window = _between(draw, *(size << 16 for size in WINDOWS))
    epsilon, gamma = EPSILON, GAMMA
    if draw.random() < 0.4:
        epsilon = draw.choice([1, (1 << EPSILON_BITS) - 1, _between(draw, 1, (1 << EPSILON_BITS) - 1)])
        gamma = draw.choice([1, LARGEST_GAMMA, draw.randint(1, LARGEST_GAMMA)])
    request = LogisticRequest(capacity, available, round_trip, elapsed, window, epsilon, gamma)
    target = exact(request).target * (1 << 16)
    window = min(window, int(target * LARGEST_RATIO))
    if draw.random() < 0.2:
        near = int(target) + draw.randint(-2, 2) * draw.randint(0, int(target) >> 10)
        window = min(max(near, 1), (1 << WINDOW_BITS) - 1)
    return replace(request, window=window)


def draw_beyond(draw: random.Random) -> LogisticRequest:
    """Any bits that fields can hold, for which nothing but agreement of RTL and model is promised."""

    def bits(count: int) -> int:
        return draw.choice([1, (1 << count) - 1, draw.getrandbits(draw.randint(1, count)) or 1])

    gamma = draw.randint(1, LARGEST_GAMMA)
    return LogisticRequest(
        bits(44), bits(44), bits(ROUND_TRIP_BITS), bits(34), bits(WINDOW_BITS), bits(EPSILON_BITS), gamma
    )


def _between(draw: random.Random, low: int, high: int) -> int:
    """By order of magnitude; the bounds more often."""
    if draw.random() < 0.1:
        return draw.choice([low, high])
    return min(max(round(math.exp(draw.uniform(math.log(low), math.log(high)))), low), high)


@dataclass(frozen=True)
class Exact:
    window: Decimal  # bytes
    target: Decimal
    exponent: Decimal


def exact(requested: LogisticRequest) -> Exact:
    """Eq. 10 and 11 as they are printed."""
    with localcontext() as context:
        context.prec = 50
        capacity = Decimal(requested.capacity) / 1024
        available = min(Decimal(requested.available) / 1024, capacity)
        round_trip, elapsed = (Decimal(ns).scaleb(-9) for ns in (requested.round_trip, requested.elapsed))
        own = Decimal(requested.window) / 65536
        gamma = Decimal(requested.gamma) / GAMMAS
        target = (capacity - gamma * (capacity - available)) * round_trip
        exponent = epsilon(requested) * elapsed * (1 - gamma * (1 - available / capacity))
        growth = exponent.exp()
        return Exact(own * growth * target / (own * (growth - 1) + target), target, exponent)


def epsilon(requested: LogisticRequest) -> Decimal:
    """eps as the unit takes it, but for the usual one: to 3.2e-6, and two millionths."""
    if requested.epsilon == EPSILON:
        return Decimal("1.95")
    taken = requested.epsilon * GROWTH_Q59 >> 8
    return Decimal(taken) / (1 << 51) * 10**10 * Decimal(2).ln()


def error(response: int, window: Decimal) -> tuple[float, float]:
    """How far an response (16 fraction bits) is from a window: as a share of it, and in units of the last place."""
    away = abs(Decimal(response) / 65536 - window)
    return float(away / window), float(away * 65536)
