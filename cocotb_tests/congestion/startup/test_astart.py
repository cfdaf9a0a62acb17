# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Astart: the RTL is its golden model's, bit for bit, and ssthresh follows the estimate as the slides say."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.startup.conversation import Conversation
from sim.golden.congestion.seam import CongestionEvent, Kind, Window
from sim.golden.congestion.startup.astart import POLICY, AstartState

SMSS = 1040
RTT_MINIMUM = 0.44  # s
ESTIMATES = ["ere", "bwe", "sliding", "bwe"]  # by the argument: bwe, slide


def test_astart() -> None:
    run_module("PolicyAstart", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    return AstartState(draw.randrange(2), draw.randrange(2), draw.randrange(2)).packed()


def opened(argument: int = 0, initial_window: int = 30) -> Conversation:
    return Conversation(POLICY, segment_size=SMSS, initial_window=initial_window, startup_policy_state=argument)


def estimates(connection: Conversation, window: int, argument: int = 0) -> None:
    """The other estimates are far above it."""
    wrong = 1 << 29
    bwe, ere, sliding = (window if name == ESTIMATES[argument] else wrong for name in ("bwe", "ere", "sliding"))
    connection.see(CongestionEvent(Kind.ESTIMATED, segment_size=SMSS, bwe=bwe, ere=ere, sliding=sliding))


@pytest.mark.parametrize("argument", range(4))
def test_the_window_takes_the_course_of_the_vectors(argument: int) -> None:
    """Vectors `astart` of the specification: ssthresh in segments and cwnd with 16 fraction bits, RTTmin = 440 ms.

    The estimate is whole segments there. In mini congestion avoidance Reno counts bytes where the paper divides.
    """
    vectors = [(60_000, 32, 2031616), (60_000, 32, 2097152), (60_000, 32, 2099200), (60_000, 32, 2101246)]
    vectors += [(85_000, 35, 2166782), (85_000, 35, 2232318), (85_000, 35, 2297854), (100_000, 42, 2363390)]
    connection = opened(argument)
    for rate, threshold, cwnd in vectors:
        estimates(connection, int(rate * RTT_MINIMUM) // SMSS * SMSS, argument)
        connection.acknowledge(SMSS)
        assert connection.segments_of_ssthresh() == threshold
        assert connection.segments_of_cwnd() == pytest.approx(cwnd / 65536, abs=0.1)


def test_ssthresh_rises_in_mini_congestion_avoidance_too() -> None:
    connection = opened(initial_window=100)
    estimates(connection, 101 * SMSS)
    assert connection.segments_of_ssthresh() == 101
    connection.acknowledge(SMSS)
    assert connection.segments_of_cwnd() == 101


def test_ssthresh_is_never_lowered() -> None:
    connection = opened()
    for window, right in ((50, 50), (40, 50), (0, 50), (51, 51)):
        estimates(connection, window * SMSS)
        assert connection.segments_of_ssthresh() == right


def test_a_loss_ends_it_and_a_timeout_begins_it_again() -> None:
    connection = opened(initial_window=20)
    connection.see(CongestionEvent(Kind.LOSS, flight=20 * SMSS, segment_size=SMSS, uninflated=True))
    estimates(connection, 200 * SMSS)
    assert connection.segments_of_ssthresh() == 10
    connection.see(CongestionEvent(Kind.TIMEOUT, flight=10 * SMSS, segment_size=SMSS, uninflated=True))
    estimates(connection, 200 * SMSS)
    assert (connection.segments_of_ssthresh(), connection.segments_of_cwnd()) == (200, 1)


def test_it_begins_with_32_segments() -> None:
    assert opened().segments_of_ssthresh() == 32
