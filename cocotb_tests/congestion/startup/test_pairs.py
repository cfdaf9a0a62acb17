# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Packet pairs by command: the RTL is its golden model's, bit for bit, and the golden model does what its paper
says."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, Pace, Window, of_bytes
from sim.golden.congestion.startup.pairs import POLICY, argument

SMSS = 1460
START = Window(of_bytes(10 * SMSS), of_bytes(64 * SMSS))


def test_pairs() -> None:
    run_module("PolicyPairs", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY)


def sent(*, probe: bool = True, ahead: bool = False) -> CongestionEvent:
    return CongestionEvent(Kind.SENT, segment_size=SMSS, sent_probe=probe, sent_ahead=ahead)


def test_gap_and_pause_take_turns() -> None:
    policy_state, gaps = argument(700.5, 9000), []
    for _ in range(4):
        result = POLICY.respond(sent(), START, policy_state)
        policy_state = result.policy_state
        assert result.departure is not None
        gaps.append((result.departure.time / 2**16, result.departure.begins, result.departure.minimum_segments))
    assert gaps == [(700.5, False, 0), (9000, True, 2)] * 2


def test_what_is_no_probe_ends_a_pair() -> None:
    first = POLICY.respond(sent(), START, argument(700, 9000))
    after = POLICY.respond(sent(probe=False), START, first.policy_state)
    assert after.departure is not None and after.departure.begins


def test_an_inverted_pairs_second_half_follows_its_first() -> None:
    policy_state = argument(0, 9000, inverted=True)
    ahead = POLICY.respond(sent(ahead=True), START, policy_state)
    assert ahead.departure is not None and ahead.departure.pace is Pace.ADJACENT
    alone = POLICY.respond(sent(), START, policy_state)
    assert alone.departure is not None and alone.departure.begins


def float_error(draw: random.Random) -> float:
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, SMSS), draw, starting_up=True)
