# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Slow start that counts bytes: the RTL is its golden model's, bit for bit, and the golden model is RFC 3465's with L =
2."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.startup.lbc import POLICY

SMSS = 1460
START = Window(of_bytes(10 * SMSS), of_bytes(64 * SMSS))


def test_lbc() -> None:
    run_module("PolicyLbc", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY)


def see(kind: Kind, state: PolicyResult, acked: int = 0) -> PolicyResult:
    event = CongestionEvent(kind, starting_up=True, acked_bytes=acked, segment_size=SMSS)
    return POLICY.respond(event, state.window, state.policy_state)


@pytest.mark.parametrize(("acked", "increment"), [(500, 500), (1460, 1460), (2920, 2920), (5840, 2920)])
def test_an_ack_adds_what_it_acknowledges_but_two_segments_at_most(acked: int, increment: int) -> None:
    after = see(Kind.ACKNOWLEDGED, PolicyResult(START, 0), acked).window
    assert after == Window(START.cwnd + of_bytes(increment), START.ssthresh)
    assert after.cwnd / of_bytes(1) == START.cwnd / of_bytes(1) + min(float(acked), 2.0 * SMSS)


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
@pytest.mark.parametrize(("acked", "increment"), [(500, 500), (1460, 1460), (2920, 1460), (5840, 1460)])
def test_after_a_loss_one_segment_at_most(kind: Kind, acked: int, increment: int) -> None:
    lost = see(kind, PolicyResult(START, 0))
    assert see(Kind.ACKNOWLEDGED, lost, acked).window.cwnd == START.cwnd + of_bytes(increment)


def test_delayed_acks_double_the_window() -> None:
    state = PolicyResult(START, 0)
    for _ in range(5):
        state = see(Kind.ACKNOWLEDGED, state, 2 * SMSS)
    assert state.window.cwnd == 2 * START.cwnd


def test_a_new_connection_has_lost_nothing() -> None:
    event = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=16, initial_ssthresh=65536)
    assert POLICY.respond(event, START, 1) == PolicyResult(Window(of_bytes(16 * 1460), of_bytes(65536)), 0)


def float_error(draw: random.Random) -> float:
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, 2 * SMSS), draw, starting_up=True)
