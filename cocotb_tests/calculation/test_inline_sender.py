# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic window with no argument: K and A from its own data within ten round trips, by the golden models
together."""

from __future__ import annotations

import pytest

from cocotb_tests.calculation.inline_path import CAPACITY, SEGMENT, Path
from cocotb_tests.calculation.inline_sender import Sender

ROUND_TRIP = 60_000_000  # ns
EARLY = 10  # round trips


@pytest.mark.parametrize("load", [0.0, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("phase", [0.2])
def test_a_within_15_and_k_within_5_percent_in_ten_round_trips(load: float, phase: float) -> None:
    sender = Sender(Path(load, phase))
    found = sender.run(EARLY * ROUND_TRIP)
    assert found.available == pytest.approx((1 - load) * CAPACITY, rel=0.15)
    assert found.capacity == pytest.approx(CAPACITY, rel=0.05)
    assert sender.state.window.cwnd >= sender.state.window.ssthresh, "start-up is over"


@pytest.mark.parametrize("load", [0.2, 0.5])
def test_delayed_acks(load: float) -> None:
    """A receiver that acknowledges every second segment: every second one is a probe."""
    found = Sender(Path(load, 0.3), acks_every=2).run(EARLY * ROUND_TRIP)
    assert found.alternate
    assert found.available == pytest.approx((1 - load) * CAPACITY, rel=0.25)
    assert found.capacity == pytest.approx(CAPACITY, rel=0.05)


def test_the_window_comes_to_that_of_equation_11() -> None:
    """w* = (K + 9 A) tau / 10."""
    sender = Sender(Path(0.5, 0.4))
    found = sender.run(50 * ROUND_TRIP)
    target = (found.capacity + 9 * found.available) / 10 * ROUND_TRIP / 1e9 / SEGMENT
    assert sender.state.window.cwnd / 65536 / SEGMENT == pytest.approx(target, rel=0.1)
