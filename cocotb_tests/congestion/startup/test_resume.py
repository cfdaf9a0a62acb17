# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Careful Resume (RFC 9959): the RTL is its golden model's, bit for bit, and each rule of the RFC holds for the model.

Section numbers are those of the draft that became the RFC; MUST and SHOULD of the host are in the estimator's tests.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import (
    Calculated,
    CongestionEvent,
    Departure,
    Kind,
    Pace,
    PolicyResult,
    Window,
    of_bytes,
)
from sim.golden.congestion.startup.resume import POLICY, Phase, ResumeState, argument
from sim.golden.congestion.steady.cubic import POLICY as CUBIC
from sim.golden.congestion.steady.reno import POLICY as RENO
from sim.golden.window import CongestionState

SMSS = 1000
MILLISECOND = 10**6
R = 50 * MILLISECOND
IW = 10
SAVED = 200


def test_resume() -> None:
    run_module("PolicyResume", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
        """Each phase at its borders: what is left, what is in flight, the round trip, the deadline."""
        acked, flight = event.acked_bytes, event.flight
        left = max(draw.choice([acked, flight, event.segment_size]) + draw.randint(-1, 1), 0)
        pipe = max(draw.choice([flight - 2 * acked, flight, 0]) + draw.randint(-1, 1), 0)
        recon = draw.random() < 0.4
        near_rtt = max(draw.choice([2 * event.rtt_minimum, event.rtt_minimum // 10, 2 * (event.rtt or 0)]), 1)
        state = ResumeState(
            saved=(draw.getrandbits(16) << 16 | draw.getrandbits(16)) if recon else pipe & 0xFFFFFFFF,
            saved_rtt=(near_rtt + draw.randint(-1, 1)) & (1 << 36) - 1,
            phase=Phase.RECONNAISSANCE if recon else draw.choice([Phase.UNVALIDATED, *Phase]),
            newest=draw.getrandbits(draw.choice([36, 44])),
            left=left & 0xFFFFFFFF,
            deadline=(event.now + draw.randint(-2, 2)) % (1 << 48),
            acknowledged=draw.random() < 0.5,
            requesting=draw.random() < 0.5,
            settles=draw.random() < 0.2,
        )
        return state.packed()

    await agrees_with_golden_model(dut, POLICY, near)


class Connection:
    """Segments and ACKs by number: a plain sender around the golden models. `steady` cuts the window on a loss."""

    def __init__(
        self, *, saved: int = SAVED, rtt: int = R, max_jump: int = 65535, steady: Any = RENO, now: int = 0
    ) -> None:
        self.state = CongestionState(POLICY, steady, startup_policy_state=argument(saved, rtt, max_jump))
        self.now, self.flight, self.rtt = now, 0, R
        self.latest: PolicyResult | None = None
        self.see(Kind.ESTABLISHED, rtt=R)

    def see(self, kind: Kind, acked: int = 0, rtt: int | None = None, **more: Any) -> None:
        event = CongestionEvent(
            kind,
            acked_bytes=acked,
            flight=self.flight,
            segment_size=SMSS,
            rtt=rtt,
            rtt_minimum=self.rtt,
            initial_window=IW,
            initial_ssthresh=1 << 30,
            now=self.now,
            **more,
        )
        result = POLICY.respond(event, self.state.window, self.state.startup_policy_state)
        self.latest = result
        self.state.see(event, requested=result.calculation is not None)
        self.flight -= acked
        if result.calculation is not None:
            self.see(Kind.CALCULATED)

    @property
    def phase(self) -> Phase:
        return Phase(ResumeState.unpacked(self.state.startup_policy_state).phase)

    def is_in(self, phase: Phase) -> bool:
        return self.phase is phase

    @property
    def cwnd(self) -> float:
        return self.state.window.cwnd / of_bytes(SMSS)

    @property
    def ssthresh(self) -> float:
        return self.state.window.ssthresh / of_bytes(SMSS)

    def send(self, segments: int) -> None:
        for _ in range(segments):
            self.see(Kind.SENT)
            self.flight += SMSS

    def acknowledge(self, segments: int, rtt: int | None = None) -> None:
        for _ in range(segments):
            self.see(Kind.ACKNOWLEDGED, SMSS, rtt)

    def confirmed(self) -> Connection:
        """The initial window has gone and been acknowledged; slow start has sent two segments for each ACK."""
        self.send(IW)
        self.now += self.rtt
        for _ in range(IW):
            self.acknowledge(1)
            self.send(2 if self.is_in(Phase.RECONNAISSANCE) else 0)
        return self


def test_the_jump_is_half_of_the_saved_window_and_paced_over_the_current_round_trip() -> None:
    """3.3: jump_cwnd MUST be no more than saved_cwnd / 2; 3.3: packets MUST be paced based on the current RTT."""
    connection = Connection().confirmed()
    assert connection.is_in(Phase.UNVALIDATED) and connection.cwnd == SAVED / 2
    connection.see(Kind.SENT)
    assert connection.latest and connection.latest.departure
    assert connection.latest.departure.pace is Pace.APART
    assert connection.latest.departure.time / 65536 == pytest.approx(R / (SAVED / 2), abs=0.01)


def test_the_jump_is_not_above_the_hosts_limit() -> None:
    """2.4: max_jump."""
    assert Connection(max_jump=30).confirmed().cwnd == 30


@pytest.mark.parametrize(
    ("saved_rtt", "phase"),
    [
        (R, Phase.UNVALIDATED),
        (2 * R - 1, Phase.UNVALIDATED),
        (2 * R, Phase.NORMAL),
        (R // 10, Phase.UNVALIDATED),
        (R // 10 - 1, Phase.NORMAL),
    ],
)
def test_the_round_trip_confirms_the_path(saved_rtt: int, phase: Phase) -> None:
    """3.2: at saved_rtt / 2 or less the sender MUST stop using Careful Resume; 4.2.1: so it does above 10 saved_rtt."""
    connection = Connection(rtt=saved_rtt).confirmed()
    assert connection.phase is phase and (connection.cwnd == SAVED / 2) is (phase is Phase.UNVALIDATED)


def test_no_jump_before_all_initial_data_is_acknowledged() -> None:
    connection = Connection()
    connection.send(IW)
    connection.acknowledge(IW - 1)
    assert connection.is_in(Phase.RECONNAISSANCE) and connection.cwnd == 2 * IW - 1
    connection.send(IW)
    connection.acknowledge(1)
    assert connection.is_in(Phase.UNVALIDATED)


def test_a_sender_with_little_data_stays_in_reconnaissance() -> None:
    """4.2: it MAY wait until more is sent than the window would allow."""
    connection = Connection()
    for _ in range(20):
        connection.send(1)
        connection.acknowledge(1)
    assert connection.is_in(Phase.RECONNAISSANCE) and connection.cwnd == IW + 20


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_congestion_in_reconnaissance_ends_it(kind: Kind) -> None:
    """3.2: the sender MUST continue with normal CC: the steady policy's answer, unbounded."""
    connection = Connection()
    connection.send(IW)
    connection.see(kind, uninflated=True)
    assert connection.is_in(Phase.NORMAL) and connection.ssthresh == IW / 2
    connection.acknowledge(IW)
    assert connection.is_in(Phase.NORMAL)


@pytest.mark.parametrize("steady", [RENO, CUBIC])
@pytest.mark.parametrize("validating", [False, True])
def test_congestion_behind_the_jump_is_a_safe_retreat(steady: Any, validating: bool) -> None:
    """3.3, 3.4: entered on loss or ECN-CE. 3.5: CWND MUST be no more than PipeSize / 2; ssthresh likewise when it
    ends."""
    connection = Connection(steady=steady).confirmed()
    flight = connection.flight // SMSS
    connection.send(40)
    connection.acknowledge(flight)
    acknowledged = flight
    if validating:
        connection.acknowledge(1)
        acknowledged += 1
        assert connection.is_in(Phase.VALIDATING)
    connection.see(Kind.LOSS, uninflated=True)
    assert connection.latest and connection.latest.retreats
    pipe = flight + acknowledged
    assert connection.cwnd <= pipe / 2 and connection.ssthresh <= pipe / 2
    assert connection.is_in(Phase.NORMAL)


def test_a_round_trip_that_shrinks_behind_the_jump_is_a_retreat() -> None:
    """3.3: a path change in the unvalidated phase MUST enter Safe Retreat; 3.5: CWND MUST NOT grow in it."""
    connection = Connection(rtt=R).confirmed()
    flight = connection.flight // SMSS
    connection.send(20)
    connection.acknowledge(1, rtt=R // 2)
    assert connection.is_in(Phase.RETREAT) and connection.cwnd <= (flight + 1) / 2
    window = connection.cwnd
    connection.acknowledge(flight + 18)
    assert connection.is_in(Phase.RETREAT) and connection.cwnd == window
    connection.acknowledge(1)
    assert connection.is_in(Phase.NORMAL) and connection.ssthresh <= (flight + 1) / 2
    connection.acknowledge(1)
    assert connection.cwnd > window


def test_a_used_up_window_is_validated_then_congestion_is_avoided() -> None:
    """3.3: the phase ends when flight_size equals CWND; 3.4: slow start goes on; 3.8: then congestion avoidance."""
    connection = Connection().confirmed()
    connection.send(SAVED // 2 - connection.flight // SMSS)
    assert connection.is_in(Phase.VALIDATING)
    connection.see(Kind.NONE)
    assert connection.latest and connection.latest.departure == Departure()
    connection.acknowledge(SAVED // 2 - 1)
    assert connection.is_in(Phase.VALIDATING) and connection.cwnd == SAVED - 1
    connection.acknowledge(1)
    assert connection.is_in(Phase.NORMAL) and connection.cwnd == connection.ssthresh == SAVED


def test_an_unvalidated_segments_ack_sets_the_window_to_what_is_in_flight() -> None:
    """3.3: the CWND MUST be set to the flight_size."""
    connection = Connection().confirmed()
    flight = connection.flight // SMSS
    connection.send(70)
    connection.acknowledge(flight)
    assert connection.is_in(Phase.UNVALIDATED) and connection.cwnd == SAVED / 2
    connection.acknowledge(1)
    assert connection.is_in(Phase.VALIDATING) and connection.cwnd == 69


def test_the_unvalidated_phase_takes_a_round_trip_at_most() -> None:
    connection = Connection().confirmed()
    connection.send(30)
    connection.now += R
    connection.acknowledge(1)
    assert connection.is_in(Phase.UNVALIDATED)
    connection.now += 1
    connection.acknowledge(1)
    assert connection.is_in(Phase.VALIDATING)


def test_a_sender_that_does_not_use_the_jump_keeps_what_was_proved() -> None:
    """3.3: flight_size not above PipeSize: CWND is PipeSize, and not below IW."""
    connection = Connection().confirmed()
    flight = connection.flight // SMSS
    connection.send(2)
    connection.acknowledge(flight + 1)
    assert connection.is_in(Phase.NORMAL) and connection.cwnd == 2 * flight + 1


def test_a_timeout_behind_the_jump_is_the_steady_policys() -> None:
    """3.7: the sender stops using Careful Resume."""
    connection = Connection().confirmed()
    connection.send(40)
    flight = connection.flight / SMSS
    connection.see(Kind.TIMEOUT, uninflated=True)
    assert connection.is_in(Phase.NORMAL) and connection.cwnd == 1 and connection.ssthresh == flight / 2


def test_a_response_from_before_a_loss_is_no_jump() -> None:
    state = ResumeState(SAVED | 0xFFFF << 16, R, phase=Phase.RECONNAISSANCE, requesting=1).packed()
    event = CongestionEvent(Kind.CALCULATED, flight=5 * SMSS, segment_size=SMSS)
    window = Window(of_bytes(IW * SMSS), of_bytes(1 << 30))
    stale = CongestionEvent(**{**event.__dict__, "calculated": Calculated(0, of_startup=True, stale=True)})
    result = POLICY.respond(stale, window, state)
    assert result.window == window and ResumeState.unpacked(result.policy_state).phase == Phase.NORMAL


def float_error(draw: random.Random) -> float:
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, SMSS), draw, starting_up=True)
