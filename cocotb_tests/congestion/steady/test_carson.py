# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP Carson: the RTL is its golden model's, bit for bit; the model reproduces the published traces, tables and
rules."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.calculation.loss_intervals import ENTRIES, LONGEST, History, Mean, Request, weights
from sim.golden.congestion.seam import Calculated, CongestionEvent, Kind, Window, of_bytes
from sim.golden.congestion.startup import standard
from sim.golden.congestion.steady import aimd
from sim.golden.congestion.steady.carson import FACTOR, POLICY, TABLE, CarsonState
from sim.golden.window import CongestionState

SMSS = 1000
FLIGHT = 16 * SMSS


def test_carson() -> None:
    run_module("PolicyCarson", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """A mean at the edge of steadiness, histories about to be full, rounds about to end, limits about to be reached."""
    rounds = draw.choice([0, 1, 2, 30, (1 << 16) - 2, (1 << 16) - 1])
    mean = draw.getrandbits(28)
    if event.calculated is not None:
        mean = Mean.unpacked(event.calculated.response).mean
    factor = draw.choice([FACTOR, 1, 63, draw.randrange(64)])
    history = draw.choice([ENTRIES, draw.randrange(64)])
    return CarsonState(
        fast_drop=draw.random() < 0.5,
        needs_full=draw.random() < 0.3,
        factor=factor,
        variance=draw.choice([0, 1, 10, 127]),
        history=history,
        credit=max(of_bytes(window.cwnd >> 16) - TABLE[1][0] * event.acked_bytes + draw.randint(-1, 1), 0),
        row=draw.randrange(4),
        place=draw.randrange(ENTRIES),
        count=draw.choice([0, 15, 16, 17, history // 2, max(history - 1, 0), history]),
        mean=mean,
        pending=draw.random() < 0.7,
        interval=draw.getrandbits(32),
        acked=draw.choice([draw.getrandbits(20), (1 << 32) - 1 - draw.randrange(2000)]),
        left=max(event.acked_bytes + draw.randint(-1, 1), 0) % (1 << 32),
        rounds=rounds,
        between=min(draw.choice([rounds, 4 * rounds // max(factor, 1)]) + draw.randint(0, 1), 0xFFFF),
        armed=draw.random() < 0.7,
        seen=draw.random() < 0.7,
        mixed=draw.random() < 0.3,
    ).packed()


@dataclass
class Connection:
    """Carson beyond start-up, its calculator answering at once."""

    argument: CarsonState = field(default_factory=CarsonState)
    policy_state: int = 0
    window: Window = field(default_factory=lambda: Window(of_bytes(FLIGHT), of_bytes(2 * SMSS)))
    given: Mean | None = None

    def __post_init__(self) -> None:
        self.policy_state = self.argument.packed()
        self.unit = POLICY.calculator.unit()
        self.see(Kind.ESTABLISHED)

    @property
    def state(self) -> CarsonState:
        return CarsonState.unpacked(self.policy_state)

    def see(self, kind: Kind, acked: int = 0, flight: int = FLIGHT) -> None:
        event = CongestionEvent(kind, acked_bytes=acked, flight=flight, segment_size=SMSS)
        result = POLICY.respond(event, self.window, self.policy_state)
        self.policy_state = result.policy_state
        if result.calculation is None:
            return
        given = self.unit(result.calculation.request)
        self.given = Mean.unpacked(given)
        back = replace(event, kind=Kind.CALCULATED, acked_bytes=0, calculated=Calculated(given))
        self.policy_state = POLICY.respond(back, self.window, self.policy_state).policy_state

    def lose(self, packets: int) -> None:
        """A loss event so many packets after the last one, in one leap: no round ends by itself."""
        self.policy_state = replace(self.state, acked=packets * SMSS).packed()
        self.see(Kind.LOSS)


def verdict(before: CarsonState, after: CarsonState) -> str:
    if after.count == 0:
        return "unsteady"
    return "steady" if after.count == 16 and before.count >= 16 else "fill"


def trace(connection: Connection, intervals: list[int]) -> list[tuple[int, int, int, str, int]]:
    """Loss event, interval, WALI_q8, state, row; the first event has no interval before it."""
    connection.lose(0)
    rows = []
    for number, interval in enumerate(intervals, 1):
        before = connection.state
        connection.lose(interval)
        assert connection.given
        state = verdict(before, connection.state)
        rows.append((number, interval, connection.given.mean, state, connection.state.row + 1))
    return rows


FASTDROP, FULL, SEVENFOLD = CarsonState(1), CarsonState(needs_full=1), CarsonState(factor=4 * FACTOR)
INTERVALS = [450] * 32 + [500] * 16 + [900] * 16 + [950] * 16 + [950] * 3 + [40] * 22


def test_the_published_trace() -> None:
    rows = trace(Connection(), INTERVALS)
    changes = [row for row, before in zip(rows[1:], rows, strict=False) if row[3] != before[3]]
    assert [rows[0], rows[16], *changes] == [
        (1, 450, 115200, "fill", 1),
        (17, 450, 115200, "fill", 1),
        (32, 450, 115200, "steady", 2),
        (33, 500, 115955, "fill", 2),
        (48, 500, 123733, "steady", 3),
        (49, 900, 134044, "fill", 3),
        (64, 900, 196266, "steady", 4),
        (65, 950, 231155, "fill", 4),
        (80, 950, 238933, "steady", 4),
        (81, 950, 243200, "fill", 4),
        (96, 40, 117013, "steady", 4),
        (97, 40, 50684, "fill", 4),
    ]


def test_fastdrop_mends_that_a_fall_from_950_to_40_packets_is_steady() -> None:
    paper, mended = (trace(Connection(argument), INTERVALS) for argument in (CarsonState(), FASTDROP))
    # The thesis's own test keeps the least responsive row through thirteen intervals of 40 packets and calls them
    # steady.
    assert paper[95] == (96, 40, 117013, "steady", 4)
    assert all(row[4] == 4 for row in paper[83:])
    # With the guard the third of them ends it: (950 + 3 * 40) / 4 is below half of WALI.
    assert mended[:85] == paper[:85]
    assert (mended[85][0], mended[85][3:]) == (86, ("unsteady", 1))


def test_full_gives_no_verdict_below_32_intervals() -> None:
    """In the second row the history begins with 16: the thesis's rule judges the next one already."""
    intervals = [450] * 32 + [500, 500, 5000]
    paper, full = (trace(Connection(argument), intervals) for argument in (CarsonState(), FULL))
    assert paper[:-1] == full[:-1]
    assert (paper[-1][3:], full[-1][3:]) == (("unsteady", 1), ("fill", 2))


@pytest.mark.parametrize(("variance", "steady"), [(2, 2.0), (6, 6.0), (10, 10.0), (20, 20.0)])
def test_the_variance_is_what_the_mean_may_change(variance: int, steady: float) -> None:
    """Kannan 6.2: 32 intervals of 1,000 packets but the newest, which takes WALI so many percent up."""
    for beyond, row in ((-0.1, 2), (0.1, 1)):
        connection = Connection(CarsonState(variance=variance))
        last = 1000 + round((steady + beyond) / 100 * 1000 * 408 / 17)
        assert trace(connection, [1000] * 31 + [last])[-1][4] == row


@pytest.mark.parametrize("history", [4, 8, 9, 16, 32])
def test_the_history_is_full_after_as_many_intervals(history: int) -> None:
    connection = Connection(CarsonState(history=history))
    rows = trace(connection, [450] * (history + history))
    steady = [number for number, *_, row in rows if row > 1]
    assert steady[0] == history
    assert rows[history + (history + 1) // 2 - 1][4] == 3


def test_no_argument_is_the_thesis_s_own() -> None:
    connection = Connection()
    connection.policy_state = 0
    connection.see(Kind.SENT)
    assert connection.state == CarsonState()
    connection.policy_state = 0
    connection.see(Kind.ESTABLISHED)
    assert connection.state == CarsonState()


def test_the_table_is_the_thesis_s() -> None:
    published = [(1, 0.5), (0.75, 0.4), (0.25, 0.25), (0.148, 0.125)]
    assert [(int(a * 65536), int(b * 65536)) for a, b in published] == TABLE


@pytest.mark.parametrize("row", range(4))
def test_a_row_grows_and_falls_as_aimd_with_its_a_and_b(row: int) -> None:
    draw = random.Random(row)
    a, b = TABLE[row]
    policy_state, its = CarsonState(row=row).packed(), b << 24 | a
    window = Window(of_bytes(20 * SMSS), of_bytes(10 * SMSS))
    for _ in range(3000):
        kind = draw.choice(20 * [Kind.ACKNOWLEDGED] + [Kind.LOSS])
        event = CongestionEvent(kind, acked_bytes=draw.randrange(1, 3 * SMSS), flight=FLIGHT, segment_size=SMSS)
        ours = POLICY.respond(event, window, policy_state)
        theirs = aimd.POLICY.respond(event, window, its)
        assert ours.window == theirs.window
        window, its = ours.window, theirs.policy_state
        policy_state = CarsonState(row=row, credit=CarsonState.unpacked(ours.policy_state).credit).packed()


@pytest.mark.parametrize(("rounds", "limit"), [(1, 2), (4, 7), (16, 28), (28, 49), (32, 56)])
def test_no_loss_for_seven_quarters_of_the_last_rounds_is_unsteady(rounds: int, limit: int) -> None:
    no_loss_is_unsteady(Connection(), rounds, limit)


@pytest.mark.parametrize(("rounds", "limit"), [(1, 7), (4, 28), (5, 35)])
def test_an_argument_sets_the_limit(rounds: int, limit: int) -> None:
    no_loss_is_unsteady(Connection(SEVENFOLD), rounds, limit)


def no_loss_is_unsteady(connection: Connection, rounds: int, limit: int) -> None:
    connection.lose(100)
    connection.policy_state = replace(connection.state, rounds=rounds).packed()
    connection.lose(100)
    connection.policy_state = replace(connection.state, row=2, count=20, left=FLIGHT).packed()
    for _ in range(limit - 1):
        connection.see(Kind.ACKNOWLEDGED, FLIGHT, 2 * FLIGHT)
    assert (connection.state.row, connection.state.count) == (2, 20)
    connection.see(Kind.ACKNOWLEDGED, FLIGHT, 2 * FLIGHT)
    assert (connection.state.row, connection.state.count, connection.state.armed) == (0, 0, 0)


def test_the_timer_needs_two_events_and_is_disarmed_until_the_next() -> None:
    connection = Connection()
    connection.lose(100)
    assert not connection.state.armed
    connection.lose(100)
    assert connection.state.armed
    connection.policy_state = replace(connection.state, left=FLIGHT).packed()
    connection.see(Kind.ACKNOWLEDGED, FLIGHT, 2 * FLIGHT)
    assert not connection.state.armed
    connection.lose(100)
    assert connection.state.armed


def test_a_new_row_has_no_limit_from_the_old_one_s_rounds() -> None:
    """From (0.75, 0.4) to (0.25, 0.25) a window that falls from 32 segments needs 32 rounds in the place of 17: more
    than 7/4.

    Nor does the limit come from the interval that both rows share.
    """
    connection = Connection()
    connection.lose(0)
    for _ in range(ENTRIES - 1):
        connection.lose(450)
        assert connection.state.armed
    connection.lose(450)
    assert (connection.state.row, connection.state.armed) == (1, 0)
    connection.lose(450)
    assert not connection.state.armed
    connection.lose(450)
    assert connection.state.armed


def test_a_round_ends_when_what_was_in_flight_at_its_beginning_is_acknowledged() -> None:
    connection = Connection()
    connection.lose(0)
    connection.see(Kind.ACKNOWLEDGED, SMSS, 10 * SMSS)  # begins the first
    for acknowledged in range(8):
        connection.see(Kind.ACKNOWLEDGED, SMSS, 10 * SMSS)
        assert connection.state.rounds == 0, acknowledged
    connection.see(Kind.PARTIAL, SMSS, 12 * SMSS)
    assert (connection.state.rounds, connection.state.left) == (1, 11 * SMSS)


def test_an_interval_is_what_was_acknowledged_between_two_events_in_whatever_way() -> None:
    connection = Connection()
    connection.lose(0)
    for kind in (Kind.ACKNOWLEDGED, Kind.PARTIAL, Kind.RECOVERED, Kind.NONE):
        connection.see(kind, 25 * SMSS)
    connection.see(Kind.DUPLICATE)
    connection.see(Kind.LOSS)
    assert connection.given and connection.given.mean == 100 * 256


def test_a_timeout_is_unsteady_and_within_two_rounds_no_event_of_its_own() -> None:
    connection = Connection()
    connection.lose(0)
    connection.policy_state = replace(connection.state, row=3, count=20, rounds=1, acked=5 * SMSS).packed()
    connection.see(Kind.TIMEOUT)
    assert (connection.state.row, connection.state.count, connection.state.acked) == (0, 0, 5 * SMSS)
    connection.policy_state = replace(connection.state, row=3, count=20, rounds=2, between=5).packed()
    connection.see(Kind.TIMEOUT)
    state = connection.state
    assert (state.row, state.count, state.acked, state.rounds, state.between, state.armed) == (0, 0, 0, 0, 2, 1)


def test_a_timeout_is_answered_by_the_row_before_it() -> None:
    result = POLICY.respond(
        CongestionEvent(Kind.TIMEOUT, flight=FLIGHT, segment_size=SMSS), Window(0, 0), CarsonState(row=3).packed()
    )
    assert result.window.ssthresh == of_bytes(FLIGHT * 7 // 8)


def test_an_answer_that_a_loss_has_overtaken_is_not_counted() -> None:
    state = CarsonState(pending=1, count=3, interval=7 * SMSS, seen=1)
    given = Calculated(Mean(1, 1, True, True).packed(), stale=True)
    after = POLICY.respond(CongestionEvent(Kind.CALCULATED, calculated=given), Window(0, 0), state.packed())
    assert CarsonState.unpacked(after.policy_state) == state
    # It is asked again with the next event, until that is taken.
    again = POLICY.respond(CongestionEvent(Kind.DUPLICATE), Window(0, 0), after.policy_state)
    assert again.calculation is not None
    assert (
        POLICY.respond(CongestionEvent(Kind.DUPLICATE, calculating=True), Window(0, 0), after.policy_state).calculation
        is None
    )


def test_a_connection_that_loses_at_a_constant_rate_becomes_smoother_by_itself() -> None:
    """Through the stage's own rules: windows that the path cuts at 32 segments, a loss in each."""
    stage = CongestionState(standard.POLICY, POLICY)
    stage.see(CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=2, initial_ssthresh=1 << 16))
    losses, rows = 0, []
    while losses < 90:
        flight = stage.window.cwnd >> 16
        stage.see(CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=SMSS, flight=flight, segment_size=SMSS))
        if flight >= 32 * SMSS:
            losses += 1
            requesting = bool(CarsonState.unpacked(stage.steady_policy_state).seen)
            stage.see(
                CongestionEvent(Kind.LOSS, flight=flight, segment_size=SMSS, uninflated=True), requested=requesting
            )
            if requesting:
                stage.see(CongestionEvent(Kind.CALCULATED, flight=flight, segment_size=SMSS))
                stage.see(CongestionEvent(Kind.RECOVERED, flight=flight, segment_size=SMSS))
        rows.append(CarsonState.unpacked(stage.steady_policy_state).row)
    assert [row for row, before in zip(rows, [-1, *rows], strict=False) if row != before] == [0, 1, 2, 3]


def float_error(draw: random.Random) -> float:
    """The error of the weighted mean of the loss intervals."""
    history, packets, worst = History(), [], 0.0
    for number in range(5000):
        packets.append(draw.randrange(1, draw.choice([20, 2000, LONGEST])))
        count = min(number + 1, ENTRIES)
        given = history.response(Request(packets[-1] * 536, 536, number % ENTRIES, count))
        counted = list(zip(weights(ENTRIES), packets[-count:][::-1], strict=False))
        exact = sum(w / 17 * i for w, i in counted) / sum(w / 17 for w, _ in counted)
        worst = max(worst, abs(given.mean / 256 - exact) / exact)
    return worst
