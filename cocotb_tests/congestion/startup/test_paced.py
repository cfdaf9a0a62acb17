# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A paced flight: the RTL is its golden model's, bit for bit, and the golden model does what its paper says."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Departure, Kind, Pace, Window, of_bytes
from sim.golden.congestion.startup.paced import POLICY, argument

SMSS = 1460
START = Window(of_bytes(10 * SMSS), of_bytes(64 * SMSS))


def test_paced() -> None:
    run_module("PolicyPaced", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY)


def test_a_flight_of_n_has_n_departures_and_a_window_for_them() -> None:
    opening = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=2, initial_ssthresh=65536)
    result = POLICY.respond(opening, START, argument(5, 1000.5))
    assert result.window.cwnd == of_bytes(5 * SMSS)
    gaps = []
    while result.departure and result.departure.pace is Pace.APART:
        gaps.append(result.departure.time / 2**16)
        result = POLICY.respond(CongestionEvent(Kind.SENT, segment_size=SMSS), result.window, result.policy_state)
    assert gaps == [0, 1000.5, 1000.5, 1000.5, 1000.5]


def test_a_bucket_counts_from_the_first_segment_on() -> None:
    """TCP/SPAND: four segments at once, then the rate."""
    opening = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=2, initial_ssthresh=65536)
    result = POLICY.respond(opening, START, argument(3, 1000, burst=2))
    for _ in range(3):
        assert result.departure == Departure(Pace.APART, 1000 << 16, burst=2)
        result = POLICY.respond(CongestionEvent(Kind.SENT, segment_size=SMSS), result.window, result.policy_state)
    assert result.departure == Departure()


def test_a_loss_ends_the_flight() -> None:
    result = POLICY.respond(CongestionEvent(Kind.LOSS, segment_size=SMSS), START, argument(5, 1000))
    assert result.departure == Departure()


def float_error(draw: random.Random) -> float:
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, SMSS), draw, starting_up=True)
