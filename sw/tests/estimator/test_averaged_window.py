# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ISS's awnd from a report each round trip is the recursion for each ACK, within a percent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import IPv4Address

import pytest
from downbeat_toe.estimator import Cause, Estimator, Phase, Report

from sw.tests.estimator import equations

HERE, SIZE, MILLISECOND = IPv4Address("192.0.2.1"), 1000, 10**6


def saw_tooth(low: int, high: int, rounds: int) -> Iterator[tuple[float, float]]:
    """Reno's window at each ACK, and the window that a loss before it has halved: a segment more each round."""
    window = float(low)
    for _ in range(rounds):
        cut = 0.0
        if window >= high:
            cut, window = window, window / 2
        for _ in range(int(window)):
            yield window, cut
            cut, window = 0.0, window + 1 / window


@pytest.mark.parametrize(("low", "high"), [(10, 20), (40, 80), (250, 500)])
@pytest.mark.parametrize("each", [1, 4])  # reports: each round trip, or each fourth; and at a loss
def test_reports_average_as_acks_do(make: Callable[..., Estimator], low: int, high: int, each: int) -> None:
    estimator, average, began, losses, worst = make(), float(low), 1, 0, 0.0
    estimator.open(0, 1, HERE)
    for acks, (window, cut) in enumerate(saw_tooth(low, high, 300), 1):
        average = equations.awnd(average, window)
        time, losses = acks * MILLISECOND, losses + (cut > 0)
        if cut or acks == 1 or acks - began >= window * each:
            began = acks
            report = Report(time, 1, HERE, int(window * SIZE), SIZE, Phase.AVOIDANCE, acks=acks, losses=losses % 256)
            report = replace(report, acked=acks * SIZE, loss_time=time, loss_window=int(cut * SIZE) or SIZE)
            assert estimator.report(report) is Cause.NONE
            state = estimator.prefix(time, HERE)
            assert state
            worst = max(worst, abs(state.oldest_average / 65536 / average - 1))
    print(f"worst {worst:.3%}")
    assert losses and worst < 0.01
