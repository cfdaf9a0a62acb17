# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hoe: the RTL is its golden model's, bit for bit, and the golden model does what its paper says."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.startup.conversation import Conversation
from sim.golden.congestion.packet_pairs import PacketPairs
from sim.golden.congestion.seam import CongestionEvent, Kind, Pace, ProbeAck, Window
from sim.golden.congestion.startup.hoe import POLICY, HoeState

SMSS = 1460
MICROSECOND = 1000


def test_hoe() -> None:
    run_module("PolicyHoe", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Nothing known yet, something known, pairs about to be used up."""
    pairs = PacketPairs(draw.random() < 0.8, draw.random() < 0.5, draw.randint(0, 2))
    known = draw.choice([0, draw.getrandbits(36)])
    return HoeState(
        draw.random() < 0.5, pairs, known, draw.choice([0, draw.getrandbits(36)]), draw.random() < 0.2
    ).packed()


def opened(**arguments: int) -> Conversation:
    return Conversation(POLICY, segment_size=SMSS, **arguments)


# R, y0 (us) and the segments of ssthresh; the envelope's floor is two.
VECTORS = [(440_000, 166, 2650), (440_000, 332, 1325), (100_000, 12_000, 8), (50_000, 60_000, 2)]


@pytest.mark.parametrize(("round_trip", "gap", "segments"), VECTORS)
@pytest.mark.parametrize("inverted", [False, True])
def test_ssthresh_is_the_round_trip_over_the_first_pairs_gap(
    round_trip: int, gap: int, segments: int, inverted: bool
) -> None:
    connection = opened(startup_policy_state=int(inverted))
    connection.pair_goes(inverted=inverted)
    connection.pair_returns(round_trip * MICROSECOND, gap * MICROSECOND, inverted=inverted)
    assert connection.segments_of_ssthresh() == segments
    connection.pair_returns(2 * round_trip * MICROSECOND, gap * MICROSECOND, inverted=inverted)
    assert connection.segments_of_ssthresh() == segments, "it is set once"


def test_the_first_two_segments_leave_back_to_back_as_probes() -> None:
    connection = opened(initial_window=10)
    first = connection.departure
    assert (first.pace, first.probe, first.begins, first.minimum_segments) == (Pace.APART, True, True, 2)
    connection.sends()
    second = connection.departure
    assert (second.pace, second.probe, second.begins) == (Pace.ADJACENT, True, False)


def test_a_window_of_one_segment_goes_alone_and_the_pair_behind_it() -> None:
    connection = opened(initial_window=1)
    assert not connection.departure.probe
    connection.sends(probe=False)
    assert connection.departure.begins


@pytest.mark.parametrize("given", [ProbeAck(arrival_gap=0), ProbeAck(arrival_gap=5, disturbed=True), None])
def test_a_pair_without_a_gap_leaves_it_to_the_next(given: ProbeAck | None) -> None:
    connection = opened()
    before = connection.segments_of_ssthresh()
    connection.acknowledge(SMSS, rtt=100 * 1000 * MICROSECOND)
    connection.acknowledge(SMSS, probe=given)
    assert connection.segments_of_ssthresh() == before
    connection.pair_returns(100 * 1000 * MICROSECOND, 1000 * MICROSECOND)
    assert connection.segments_of_ssthresh() == 100


def test_four_pairs_that_tell_nothing_are_the_last() -> None:
    """A receiver that delays ACKs: ssthresh stays, and segments leave as in slow start."""
    connection = opened(initial_window=20)
    before = connection.segments_of_ssthresh()
    for _ in range(4):
        assert connection.departure.begins
        connection.pair_goes()
    assert connection.departure.pace is Pace.CONFIGURED
    connection.acknowledge(2 * SMSS, rtt=MICROSECOND)
    assert connection.segments_of_ssthresh() == before


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_after_a_loss_there_is_no_estimate(kind: Kind) -> None:
    connection = opened()
    connection.pair_goes()
    connection.see(CongestionEvent(kind, flight=20 * SMSS, segment_size=SMSS))
    connection.pair_returns(440_000 * MICROSECOND, 166 * MICROSECOND)
    assert connection.segments_of_ssthresh() == 10
    assert connection.departure.pace is Pace.CONFIGURED


def estimated(draw: random.Random) -> tuple[float, float]:
    """ssthresh, and R / y0 of the path, both in segments; a path of 2 segments at least and 1 GiB at most."""
    gap = draw.randrange(1, 1 << draw.randint(1, 30))
    round_trip = min(round(gap * draw.uniform(2, 1 << draw.randint(2, 19))), (1 << 36) - 2)
    connection = opened()
    connection.pair_goes()
    connection.pair_returns(round_trip, gap)
    return connection.segments_of_ssthresh(), round_trip / gap


def test_ssthresh_is_less_than_a_segment_below_the_equation() -> None:
    draw = random.Random(1)
    for _ in range(500):
        model, equation = estimated(draw)
        assert equation - 1 < model <= equation


def float_error(draw: random.Random) -> float:
    """The error of ssthresh: whole segments in the place of a quotient, so less than 1 / (R / y0), a half at most."""
    return max(abs(model - equation) / equation for model, equation in (estimated(draw) for _ in range(2000)))
