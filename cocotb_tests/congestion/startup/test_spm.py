# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SPM: the RTL is its golden model's, bit for bit, and the golden model does what its paper says."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.startup.conversation import Conversation
from sim.golden.congestion.packet_pairs import PacketPairs
from sim.golden.congestion.seam import CongestionEvent, Kind, Pace, ProbeAck, Window
from sim.golden.congestion.startup.spm import POLICY, SpmState

SMSS = 1000
MILLISECOND = 1_000_000
ROUND_TRIP = 240 * MILLISECOND
Y0 = 8 * MILLISECOND


def test_spm() -> None:
    run_module("PolicySpm", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Nothing known yet, samples about to be enough, pauses about as long as the pair before."""
    first = draw.choice([0, draw.getrandbits(36), draw.getrandbits(24)])
    return SpmState(
        inverted=draw.random() < 0.5,
        pairs=PacketPairs(draw.random() < 0.8, draw.random() < 0.5, draw.randint(0, 2)),
        first_gap=first,
        spacing=min(first * draw.choice([0, 1, 2, 3, 4, 9]) // 2 + draw.randint(0, 1), (1 << 36) - 1),
        index=draw.randrange(4),
        count=draw.choice([0, 11, 12]),
        begun=draw.random() < 0.7,
        over=draw.random() < 0.2,
        lost=draw.random() < 0.2,
    ).packed()


def opened(**arguments: int) -> Conversation:
    return Conversation(POLICY, segment_size=SMSS, **arguments)


def learnt(*, inverted: bool = False) -> Conversation:
    """A connection that knows y0."""
    connection = opened(startup_policy_state=int(inverted))
    connection.pair_goes(inverted=inverted)
    connection.pair_returns(ROUND_TRIP, Y0, inverted=inverted)
    return connection


def gap_ns(connection: Conversation) -> float:
    return connection.departure.time / 2**16


def runs_pairs(connection: Conversation, path: Callable[[float], float], count: int, *, inverted: bool = False) -> None:
    """Pairs one after the other, each with the gap that is asked for, over a path that changes the gap."""
    for _ in range(count):
        connection.sends(ahead=inverted)
        gap = round(gap_ns(connection))
        connection.sends()
        connection.pair_returns(ROUND_TRIP, round(path(gap)), departure_gap=gap, inverted=inverted)


def test_ssthresh_begins_with_32_segments_whatever_was_asked() -> None:
    assert opened(ssthresh=1000).segments_of_ssthresh() == 32


def test_input_gaps_take_turns_once_y0_is_known() -> None:
    connection, gaps = learnt(), []
    for _ in range(6):
        connection.sends()
        gaps.append(gap_ns(connection) / Y0)
        connection.sends()
    assert gaps == [1, 1.5, 2, 4, 1, 1.5]


def test_the_first_segments_of_two_pairs_are_two_round_trips_over_cwnd_apart() -> None:
    connection = learnt()
    runs_pairs(connection, lambda x: x, 3)
    for gap in (4, 1, 1.5):
        connection.sends()
        assert gap_ns(connection) == gap * Y0
        connection.sends()
        pause = gap_ns(connection)
        # The window before the last sample's ACK, which added a segment.
        cwnd = connection.segments_of_cwnd() - 1
        assert pause == pytest.approx(max(2 * ROUND_TRIP / cwnd - gap * Y0, 0), abs=1)
        connection.pair_returns(ROUND_TRIP, Y0, departure_gap=round(gap * Y0))


def test_a_pair_that_is_due_before_the_last_ones_second_goes_right_behind_it() -> None:
    connection = learnt()
    runs_pairs(connection, lambda x: x, 15)
    assert connection.segments_of_cwnd() >= 16
    runs_pairs(connection, lambda x: x, 1)  # the gap of 4 y0 = 32 ms, with pairs due after 30 ms at most
    connection.sends()
    gap = gap_ns(connection)
    connection.sends()
    assert (
        gap_ns(connection) == max(2 * ROUND_TRIP / (connection.segments_of_cwnd() - 1) - gap, 0)
        or gap_ns(connection) >= 0
    )


# Output gap of an input gap (ms), and ssthresh: the paths of the thesis, with R = 240 ms.
PATHS: dict[str, tuple[Callable[[float], float], int]] = {
    "free": (lambda x: x, 30),
    "1 CBR": (lambda x: max(x, 8 + x / 4), 20),
    "2 CBR": (lambda x: max(x, 8 + x / 2), 15),
    "3 CBR": (lambda x: max(x, 8 + 3 * x / 4), 7),
    "4 CBR, saturated": (lambda x: x + 8, 32),
}


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("name", PATHS)
def test_with_32_segments_and_12_samples_the_estimate_is_made(name: str, inverted: bool) -> None:
    path, segments = PATHS[name]
    connection = learnt(inverted=inverted)
    pairs = 0
    while connection.segments_of_cwnd() < 32:
        assert connection.segments_of_ssthresh() == 32
        runs_pairs(connection, lambda x: MILLISECOND * path(x / MILLISECOND), 1, inverted=inverted)
        pairs += 1
    assert pairs >= 12
    connection.acknowledge(SMSS)
    assert connection.segments_of_ssthresh() == segments
    assert connection.departure.pace is Pace.CONFIGURED, "no more pairs"


def test_missing_samples_are_waited_for_in_congestion_avoidance() -> None:
    connection = learnt()
    for _ in range(40):
        connection.acknowledge(2 * SMSS)
    assert 32 <= connection.segments_of_cwnd() < 34
    runs_pairs(connection, lambda x: x, 11)
    assert connection.segments_of_ssthresh() == 32 and connection.departure.probe
    runs_pairs(connection, lambda x: x, 1)
    connection.acknowledge(SMSS)
    assert connection.segments_of_ssthresh() == 30


def test_an_ack_of_two_segments_grows_the_window_by_two_until_a_loss() -> None:
    connection = opened(initial_window=4)
    connection.acknowledge(3 * SMSS)
    assert connection.segments_of_cwnd() == 6
    connection.acknowledge(0)  # a pair's first half
    assert connection.segments_of_cwnd() == 6
    connection.see(CongestionEvent(Kind.TIMEOUT, flight=20 * SMSS, segment_size=SMSS))
    connection.acknowledge(3 * SMSS)
    assert connection.segments_of_cwnd() == 2


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_a_loss_ends_it(kind: Kind) -> None:
    connection = learnt()
    runs_pairs(connection, lambda x: x, 12)
    connection.see(CongestionEvent(kind, flight=60 * SMSS, segment_size=SMSS))
    for _ in range(40):
        connection.acknowledge(SMSS)
    assert connection.departure.pace is Pace.CONFIGURED
    assert connection.segments_of_ssthresh() == 30, "half of the flight, as Reno says"


DISTURBED = ProbeAck(disturbed=True, departure_gap=Y0, arrival_gap=Y0)
WRONG = ProbeAck(departure_gap=9 * Y0 // 8, arrival_gap=Y0)


@pytest.mark.parametrize("sample", [DISTURBED, WRONG])
def test_a_disturbed_sample_or_one_of_a_wrong_gap_does_not_count(sample: ProbeAck) -> None:
    connection = learnt()
    before = SpmState.unpacked(connection.state.startup_policy_state).count
    connection.acknowledge(SMSS, probe=sample)
    assert SpmState.unpacked(connection.state.startup_policy_state).count == before


def test_a_receiver_that_delays_acks_leaves_32_segments() -> None:
    """Pairs in order get one ACK each, which tells nothing: after four of them segments leave as always."""
    connection = opened(initial_window=10)
    for _ in range(4):
        connection.pair_goes()
    assert connection.departure.pace is Pace.CONFIGURED
    for _ in range(40):
        connection.acknowledge(2 * SMSS, rtt=ROUND_TRIP)
    assert connection.segments_of_ssthresh() == 32


def published_gap(first: float, samples: list[tuple[float, float]]) -> float | None:
    """d by the thesis, in floats, of input and output gaps by turns; None where the line is parallel to y = x or nearly
    so."""
    classes = [samples[turn::4] for turn in range(4)]
    means = [(sum(x for x, _ in of) / len(of), sum(y for _, y in of) / len(of)) for of in classes]
    free = next((turn for turn, (x, y) in enumerate(means) if y <= 1.05 * x), None)
    if free == 0:
        return first
    used = [sample for of in classes[: len(classes) if free is None else free + 1] for sample in of]
    line = statistics.linear_regression([x for x, _ in used], [y for _, y in used])
    if line.slope > 0.99:
        return None
    gap = line.intercept / (1 - line.slope)
    return max(gap if free is None else min(gap, means[free][0]), first)


def estimated(draw: random.Random) -> tuple[float, float] | None:
    """ssthresh and R / d, in segments, over a path with noise; None: it has no estimate, or none within 2 segments and
    1 GiB."""
    first = draw.randrange(1000, 1 << draw.randint(12, 26))
    round_trip = min(round(first * draw.uniform(20, 2000)), 10_000 * MILLISECOND)
    share = draw.choice([0.0, 0.3, draw.uniform(0, 0.9)])
    connection = opened()
    connection.pair_goes()
    connection.pair_returns(round_trip, first)
    samples = []
    while connection.segments_of_cwnd() < 32:
        connection.sends()
        x = round(gap_ns(connection) * draw.uniform(0.98, 1.02))
        y = round(max(x, first + share * x) * draw.uniform(0.95, 1.05))
        connection.sends()
        connection.pair_returns(round_trip, y, departure_gap=x)
        samples.append((x, y))
    gap = published_gap(first, [(float(x), float(y)) for x, y in samples])
    return None if gap is None or round_trip < 2 * gap else (connection.segments_of_ssthresh(), round_trip / gap)


def test_ssthresh_is_the_equation_s_in_whole_segments() -> None:
    """Less than one below; either way by what the fit's integers do to d, a 5,000th."""
    draw = random.Random(1)
    estimates = [found for _ in range(200) if (found := estimated(draw)) is not None]
    assert len(estimates) > 150
    for model, equation in estimates:
        assert equation * (1 - 1 / 5000) - 1 < model <= equation * (1 + 1 / 5000)


def float_error(draw: random.Random) -> float:
    """The error of ssthresh: whole segments in the place of a quotient."""
    estimates = (found for _ in range(500) if (found := estimated(draw)) is not None)
    return max(abs(model - equation) / equation for model, equation in estimates)
