# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Paced Start: the RTL is its golden model's, bit for bit, and the golden model does what the thesis says."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.startup.conversation import Conversation
from sim.golden.congestion.seam import CongestionEvent, Kind, Pace, ProbeAck, Window
from sim.golden.congestion.startup.past import POLICY, PastState

SMSS = 1000
MICROSECOND = 1000
ROUND_TRIP = 440_000  # us
Out = Callable[[int], int]  # the mean output gap of an input gap, us


def test_past() -> None:
    run_module("PolicyPast", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Trains about to be over, verdicts about to be the other one."""
    train = draw.randint(1, 5)
    size, gap = 1 << train, draw.getrandbits(draw.randint(1, 36))
    total = draw.getrandbits(draw.randint(1, 41))
    arrival = event.probe.arrival_gap if event.probe else 0
    return PastState(
        bisect=draw.random() < 0.5,
        train=train,
        position=draw.choice([0, 1, size - 1, size]),
        count=draw.choice([size - 2, size - 2, size - 1, 0]) % 32,
        sum=total,
        limit=max(total + arrival + draw.randint(-1, 1), 0) % (1 << 41),
        gap=gap,
        low=draw.choice([0, draw.getrandbits(36)]),
        high=draw.choice([0, draw.getrandbits(36)]),
        judged=draw.random() < 0.3,
        done=draw.random() < 0.2,
        over=draw.random() < 0.2,
    ).packed()


def opened(bisect: int = 0) -> Conversation:
    return Conversation(POLICY, segment_size=SMSS, initial_window=10, ssthresh=100_000, startup_policy_state=bisect)


def state_of(connection: Conversation) -> PastState:
    return PastState.unpacked(connection.state.startup_policy_state)


def train(connection: Conversation, out: Out, *, delayed: bool = False) -> tuple[int, int]:
    """A train goes and its ACKs come; its size, and its input gap in us."""
    first = connection.departure
    assert (first.probe, first.begins) == (True, True)
    size = first.minimum_segments
    connection.sends()
    later = connection.departure
    assert (later.probe, later.begins) == (True, False)
    gap = later.time / 65536 / MICROSECOND if later.pace is Pace.APART else 0
    for _ in range(size - 1):
        connection.sends()
    for number in range(size):
        result = ProbeAck(
            begins=number == 0, disturbed=delayed and number > 0, arrival_gap=round(out(round(gap)) * MICROSECOND)
        )
        connection.acknowledge(SMSS, rtt=ROUND_TRIP * MICROSECOND if number == 0 else None, probe=result)
    return size, round(gap)


# Vectors of the specification: the output gap of an input gap, the input gaps of the five trains, R / final gap with
# and without bisection. R = 440 ms.
PATHS: dict[str, tuple[Out, list[int], int, int]] = {
    "free": (lambda gap: max(gap, 166), [0, 332, 249, 207, 186], 440_000 // 187, 1325),
    "half": (lambda gap: max(gap, 160 + gap // 2), [0, 320, 240, 280, 300], 1466, 1375),
    "saturated": (lambda gap: gap + 300, [0, 600, 1200, 2400, 4800], 45, 45),
}


@pytest.mark.parametrize("name", PATHS)
def test_trains_bisect_the_gap_of_the_path(name: str) -> None:
    out, gaps, segments, _ = PATHS[name]
    connection = opened(bisect=1)
    went = [train(connection, out) for _ in gaps]
    assert [size for size, _ in went] == [2, 4, 8, 16, 32]
    assert [gap for _, gap in went] == pytest.approx(gaps, abs=1)
    connection.see(CongestionEvent(Kind.NONE, segment_size=SMSS))
    assert connection.segments_of_ssthresh() == pytest.approx(segments, rel=0.003)
    assert not connection.departure.probe


@pytest.mark.parametrize("name", PATHS)
def test_the_first_train_that_finds_the_path_free_ends_it(name: str) -> None:
    out, _, _, segments = PATHS[name]
    connection = opened()
    for _ in range(5):
        if not connection.departure.probe:
            break
        train(connection, out)
    connection.see(CongestionEvent(Kind.NONE, segment_size=SMSS))
    assert connection.segments_of_ssthresh() == pytest.approx(segments, abs=1)


@pytest.mark.parametrize(("trains", "divisor"), [(1, 2), (2, 4), (4, 16), (5, 32)])
def test_few_gaps_end_a_search(trains: int, divisor: int) -> None:
    """Gaps are g1 times a power of two until a train is not saturated: R / g1 is 2644 on the thesis's path of 50
    Mb/s."""
    connection = opened()
    train(connection, lambda _: 166)
    for number in range(1, 5):
        if connection.departure.probe:
            train(connection, lambda gap, number=number: gap if number >= trains else 2 * gap)  # type: ignore[misc]
    connection.see(CongestionEvent(Kind.NONE, segment_size=SMSS))
    assert connection.segments_of_ssthresh() == pytest.approx(440_000 / 166 / divisor, abs=1)


def test_a_train_without_all_its_acks_leaves_the_gap_as_it_is() -> None:
    connection = opened(bisect=1)
    train(connection, lambda _: 200)
    assert train(connection, lambda gap: gap, delayed=True) == (4, 400)
    assert train(connection, lambda gap: gap) == (8, 400)
    assert train(connection, lambda gap: gap) == (16, 300)


def test_a_receiver_that_delays_acks_gives_no_estimate() -> None:
    connection = opened()
    before = connection.segments_of_ssthresh()
    train(connection, lambda _: 200, delayed=True)
    connection.sends()
    assert connection.departure.pace is Pace.CONFIGURED
    assert connection.segments_of_ssthresh() == before and state_of(connection).over


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_after_a_loss_there_is_no_estimate(kind: Kind) -> None:
    connection = opened()
    train(connection, lambda _: 200)
    connection.see(CongestionEvent(kind, flight=20 * SMSS, segment_size=SMSS))
    assert connection.departure.pace is Pace.CONFIGURED and state_of(connection).over


def float_error(draw: random.Random) -> float:
    """The error of ssthresh where the first later train fits: R / (2 g1) in whole segments."""
    worst = 0.0
    for _ in range(300):
        g1 = draw.randrange(1, 20_000)
        connection = opened()
        train(connection, lambda _, g1=g1: g1)  # type: ignore[misc]
        train(connection, lambda gap: gap)
        connection.see(CongestionEvent(Kind.NONE, segment_size=SMSS))
        exact = max(ROUND_TRIP / (2 * g1), 2)
        worst = max(worst, abs(connection.segments_of_ssthresh() - exact) / exact)
    return worst
