# SPDX-License-Identifier: BSD-2-Clause-Patent
"""BBR: the RTL is its golden model's, bit for bit, and what a response changes. The unit is test_bbr_model's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.bbr.request import NO_RTT, Request, Response
from sim.golden.congestion.seam import (
    Calculated,
    CongestionEvent,
    DeliverySample,
    Kind,
    Pace,
    PolicyResult,
    Window,
    of_bytes,
)
from sim.golden.congestion.steady.bbr import POLICY, BbrState

SMSS = 1460
BEFORE = Window(of_bytes(20 * SMSS), of_bytes(30 * SMSS))
SAMPLE = DeliverySample(9000, 1000, 10**6, 50, 20, 8000, 7000, cwnd_limited=1)
RESPONSE = Response(cwnd=44 * SMSS, mantissa=3 << 23, exponent=9)


def test_bbr() -> None:
    run_module("PolicyBbr", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY)


def see(kind: Kind, state: BbrState, **fields: Any) -> tuple[PolicyResult, BbrState]:
    result = POLICY.respond(CongestionEvent(kind, **fields), BEFORE, state.packed())
    return result, BbrState.unpacked(result.policy_state)


def requested(result: PolicyResult) -> Request:
    assert result.calculation is not None
    return Request.unpacked(result.calculation.request)


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_a_loss_leaves_the_window_as_ssthresh(kind: Kind) -> None:
    result, state = see(kind, BbrState())
    assert result.window == replace(BEFORE, ssthresh=BEFORE.cwnd)
    assert state.timed_out == (kind is Kind.TIMEOUT)


def test_an_ack_with_a_sample_is_a_request() -> None:
    result, _ = see(Kind.ACKNOWLEDGED, BbrState(opens=1), delivery=SAMPLE, rtt=5000, now=77, initial_window=10)
    request = requested(result)
    assert (request.opens, request.delivered, request.prior_lost, request.tx_in_flight) == (1, 9000, 20, 8000)
    assert (request.cwnd, request.rtt, request.now, request.cwnd_limited) == (20 * SMSS, 5000, 77, 1)
    assert requested(see(Kind.DUPLICATE, BbrState(), delivery=SAMPLE)[0]).rtt == NO_RTT


@pytest.mark.parametrize("fields", [{}, {"delivery": SAMPLE, "calculating": True}])
def test_without_a_sample_or_while_one_is_under_way_there_is_no_request(fields: dict[str, Any]) -> None:
    assert see(Kind.ACKNOWLEDGED, BbrState(), **fields)[0].calculation is None


def test_in_recovery_window_and_response_are_ssthresh() -> None:
    result, _ = see(Kind.NONE, BbrState(), recovering=True, delivery=SAMPLE)
    assert (requested(result).recovering, requested(result).cwnd) == (1, 30 * SMSS)
    result, _ = see(Kind.CALCULATED, BbrState(), recovering=True, calculated=Calculated(RESPONSE.packed()))
    assert result.window == replace(BEFORE, ssthresh=of_bytes(RESPONSE.cwnd))


def test_a_response_to_a_request_from_before_a_timeout_leaves_the_windows() -> None:
    result, before = see(Kind.ACKNOWLEDGED, BbrState(known=1), delivery=SAMPLE)
    assert result.calculation
    _, timed_out = see(Kind.TIMEOUT, before)
    calculated = Calculated(RESPONSE.packed(), result.calculation.note, stale=True)
    result, state = see(Kind.CALCULATED, timed_out, calculated=calculated)
    assert result.window == BEFORE and state.timed_out
    result, _ = see(Kind.NONE, state, delivery=SAMPLE)
    assert result.calculation and requested(result).timed_out
    calculated = Calculated(RESPONSE.packed(), result.calculation.note)
    assert see(Kind.CALCULATED, state, calculated=calculated)[0].window.cwnd == of_bytes(RESPONSE.cwnd)


def test_a_response_says_window_and_spacing_though_something_was_lost_meanwhile() -> None:
    assert see(Kind.ACKNOWLEDGED, BbrState())[0].departure.pace is Pace.CONFIGURED  # type: ignore[union-attr]
    result, state = see(Kind.CALCULATED, BbrState(), calculated=Calculated(RESPONSE.packed(), stale=True))
    assert result.window == Window(of_bytes(RESPONSE.cwnd), of_bytes(RESPONSE.cwnd))
    for departure in (result.departure, see(Kind.SENT, state)[0].departure):
        assert departure and (departure.pace, departure.time) == (Pace.SPACED, 3 << 32)


def test_a_flag_that_a_request_did_not_report_is_kept_for_the_next() -> None:
    result, state = see(Kind.TIMEOUT, BbrState(opens=1), delivery=SAMPLE)
    assert result.calculation and requested(result).timed_out
    for kind in (Kind.UNDONE, Kind.RESTART):
        _, state = see(kind, state)
    _, state = see(Kind.CALCULATED, state, calculated=Calculated(RESPONSE.packed(), result.calculation.note))
    assert (state.opens, state.timed_out, state.undone, state.restarted) == (0, 0, 1, 1)
