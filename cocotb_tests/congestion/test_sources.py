# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rules of the policies' sources, each by events that tell a golden model which breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from cocotb_tests.congestion.startup.conversation import Conversation
from cocotb_tests.congestion.steady.timed import SMSS, Path
from sim.golden.congestion.seam import CongestionEvent, Kind, Policy, ProbeAck, Window, of_bytes
from sim.golden.congestion.startup import hystart, past, resume, vegasstart
from sim.golden.congestion.steady import aimd, fast, hstcp, reno, stcp, vegas, westwood
from sim.golden.window import CongestionState

MILLISECOND = 1_000_000  # ns


def steady(policy: Policy, segments: int, policy_state: int = 0) -> CongestionState:
    """In congestion avoidance, with a window of so many segments."""
    window = Window(of_bytes(segments * SMSS), of_bytes(segments * SMSS))
    return CongestionState(reno.POLICY, policy, window, steady_policy_state=policy_state)


def see(state: CongestionState, kind: Kind, **more: Any) -> float:
    """The window after an event, segments."""
    return state.see(CongestionEvent(kind, segment_size=SMSS, **more)).cwnd / of_bytes(SMSS)


@pytest.mark.parametrize(
    ("policy", "policy_state"),
    [
        (reno.POLICY, 0),
        (aimd.POLICY, aimd.argument(1, 0.5)),
        (hstcp.POLICY, hstcp.HstcpState().packed()),
        (westwood.POLICY, 0),
        (stcp.POLICY, 0),
        (vegas.POLICY, vegas.VegasState(grows=1).packed()),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_credit_of_before_an_idle_time_does_not_grow_the_restart_window(policy: Policy, policy_state: int) -> None:
    """RFC 5681 4.1: a connection that was idle begins again. Its window of 4 segments needs 4 ACKs for the fifth."""
    state = steady(policy, 16, policy_state)
    for _ in range(15):
        see(state, Kind.ACKNOWLEDGED, acked_bytes=SMSS)
    see(state, Kind.RESTART)
    state.window = Window(of_bytes(4 * SMSS), of_bytes(4 * SMSS))
    grown = [see(state, Kind.ACKNOWLEDGED, acked_bytes=SMSS) for _ in range(4)]
    assert grown == [4, 4, 4, 5]


def test_hstcp_takes_the_share_of_the_window_at_the_loss() -> None:
    """RFC 3649 5: b(w) of the window before the loss. Duplicates without SACK inflate it to 3,050 segments on the
    way."""
    state = steady(hstcp.POLICY, 50, hstcp.HstcpState().packed())
    for _ in range(10):
        see(state, Kind.SENT)
    see(state, Kind.LOSS, flight=50 * SMSS)
    while see(state, Kind.DUPLICATE) < 3050:
        pass
    see(state, Kind.RECOVERED, flight=50 * SMSS, acked_bytes=50 * SMSS)
    see(state, Kind.LOSS, flight=50 * SMSS)
    assert state.window.ssthresh / of_bytes(SMSS) == pytest.approx(50 * (1 - hstcp.TABLE[0][1] / 256), abs=1)


@pytest.mark.parametrize(("multiplicative", "sizes"), [(False, [21, 22]), (True, [40, 80])])
def test_fast_compares_with_the_flight_that_the_loss_left(multiplicative: bool, sizes: list[float]) -> None:
    """Wei 2006: w = (cwnd + wOld - q + alpha) / 2. ns-2's module doubles without a queue; here from the sample on, which
    an ACK or two of the round come before."""
    path = Path(fast.POLICY, 12_500_000, 60 * MILLISECOND, fast.argument(2, mi=multiplicative), segments=40)
    path.round(1)
    path.state.window = Window(of_bytes(40 * SMSS), of_bytes(40 * SMSS))
    path.see(Kind.LOSS, flight=40 * SMSS, uninflated=True)
    found = []
    for _ in sizes:
        path.round()
        found.append(path.cwnd)
    assert found == pytest.approx(sizes, rel=0.06 if multiplicative else 0.03)


def one_segment_at_a_time(policy: Policy) -> Conversation:
    """Eight ACKs behind which nothing is outstanding."""
    connection = Conversation(policy, initial_window=1, ssthresh=64)
    for _ in range(8):
        connection.see(
            CongestionEvent(
                Kind.ACKNOWLEDGED,
                acked_bytes=connection.segment_size,
                flight=connection.segment_size,
                rtt=100 * MILLISECOND,
                segment_size=connection.segment_size,
            )
        )
    return connection


def test_vegasstart_ends_a_round_that_begins_with_nothing_outstanding() -> None:
    """ns-2's agent: otherwise a window of one segment waits for ever for the end of its round."""
    assert one_segment_at_a_time(vegasstart.POLICY).segments_of_cwnd() >= 4


def test_hystart_ends_a_round_that_begins_with_nothing_outstanding() -> None:
    """RFC 9406 4.2: a round ends with the ACK of its windowEnd, and has a smallest round trip."""
    state = hystart.HystartState.unpacked(one_segment_at_a_time(hystart.POLICY).state.startup_policy_state)
    assert state.last_round_min_rtt == 100 * MILLISECOND


@pytest.mark.parametrize(("gap", "known"), [(59 * MILLISECOND, True), (201 * MILLISECOND, False)])
def test_past_takes_no_timer_of_the_receiver_for_the_gap_of_the_path(gap: int, known: bool) -> None:
    """Hu 2003: g1 is the bottleneck's. A gap above the round trip, 60 ms here, is the timer of delayed ACKs."""
    connection = Conversation(past.POLICY, segment_size=SMSS)
    connection.pair_goes()
    connection.acknowledge(SMSS, rtt=60 * MILLISECOND, probe=ProbeAck(begins=True))
    connection.acknowledge(SMSS, probe=ProbeAck(arrival_gap=gap))
    assert bool(past.PastState.unpacked(connection.state.startup_policy_state).judged) is known


@pytest.mark.parametrize("judged", [True, False])
def test_past_judges_the_train_of_32_by_its_acks_although_segments_leave_behind_it(judged: bool) -> None:
    """Algorithm 3 of the thesis: the last train is a train like those before. Where its gaps are disturbed, the gap stays
    as it is."""
    connection = Conversation(past.POLICY, segment_size=SMSS, initial_window=100, ssthresh=100_000)
    gap = MILLISECOND
    for size in (2, 4, 8, 16, 32):
        for _ in range(size):
            connection.sends()
        behind = 3 if size == 32 else 0
        for _ in range(behind):
            connection.sends(probe=False)
        for number in range(size):
            measured = ProbeAck(begins=number == 0, disturbed=size == 32 and not judged, arrival_gap=gap)
            connection.acknowledge(SMSS, rtt=400 * MILLISECOND if number == 0 else None, probe=measured)
        for _ in range(behind):
            connection.acknowledge(SMSS)
        gap = 4 * gap if size == 2 else 2 * gap  # more than the input gap: the path is saturated
    # Input gaps: 0, 2, 4, 8, 16 ms; behind a saturated train of 32 the next would be 32 ms.
    connection.see(CongestionEvent(Kind.NONE, segment_size=SMSS))
    assert connection.segments_of_ssthresh() == pytest.approx(400 / (32 if judged else 16), abs=1)


def test_resume_keeps_what_was_proved_beyond_an_ssthresh_below_the_jump() -> None:
    """RFC 9959 3.4: without use of the jump cwnd becomes what was proved, also where ssthresh was below the jump."""
    round_trip = 100 * MILLISECOND
    state = CongestionState(resume.POLICY, reno.POLICY, startup_policy_state=resume.argument(200, round_trip))
    common: dict[str, Any] = {"segment_size": SMSS, "rtt_minimum": round_trip, "initial_window": 10}

    def happens(kind: Kind, flight: int, now: int, **more: Any) -> None:
        event = CongestionEvent(kind, flight=flight * SMSS, now=now, **common, **more)
        result = resume.POLICY.respond(event, state.window, state.startup_policy_state)
        state.see(event, requested=result.calculation is not None)
        if result.calculation is not None:
            happens(Kind.CALCULATED, flight, now)

    happens(Kind.ESTABLISHED, 0, 0, rtt=round_trip, initial_ssthresh=50 * SMSS)
    for number in range(10):
        happens(Kind.ACKNOWLEDGED, 10, round_trip, acked_bytes=SMSS, rtt=round_trip if number == 0 else None)
    assert state.window.cwnd == of_bytes(100 * SMSS)
    for _ in range(15):
        happens(Kind.ACKNOWLEDGED, 10, 3 * round_trip, acked_bytes=SMSS)
    assert 10 <= state.window.cwnd / of_bytes(SMSS) <= 40
