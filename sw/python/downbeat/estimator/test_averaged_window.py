# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ISS's awnd from a report each round trip is the recursion for each ACK, within a percent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv4Address

import pytest

from downbeat.estimator import Estimator, Phase, Report, equations

HERE, SIZE, ROUND_TRIP = IPv4Address("192.0.2.1"), 1000, 10**8


def saw_tooth(low: float, high: float, rounds: int) -> Iterator[float]:
    """Reno's window at each ACK: a segment more each round, half at a loss."""
    window = low
    for _ in range(rounds):
        for _ in range(int(window)):
            yield window
            window += 1 / window
        if window >= high:
            window = low


@pytest.mark.parametrize(("low", "high"), [(10, 20), (40, 80), (250, 500)])
@pytest.mark.parametrize("each", [1, 4])  # reports: each round trip, or each fourth
def test_reports_average_as_acks_do(make: Callable[..., Estimator], low: int, high: int, each: int) -> None:
    estimator, average, acks, began = make(), float(low), 0, 0
    estimator.open(0, 1, HERE)
    rounds, worst = 0, 0.0
    for window in [float(low), *saw_tooth(low, high, 300)]:
        average, acks = equations.awnd(average, window) if acks else average, acks + 1
        if acks - began < window * each and acks > 1:
            continue
        rounds, began = rounds + each, acks
        report = Report(rounds * ROUND_TRIP, 1, HERE, int(window * SIZE), SIZE, Phase.AVOIDANCE, acks=acks)
        assert not estimator.report(Report(**(vars(report) | {"acked_bytes": acks * SIZE})))
        state = estimator.prefix(rounds * ROUND_TRIP, HERE)
        assert state
        worst = max(worst, abs(state.oldest_average / 65536 / average - 1))
    assert rounds > 100
    assert worst < (0.01 if each == 1 else 0.05), worst
