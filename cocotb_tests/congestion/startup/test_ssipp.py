# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SSIPP: the RTL is its golden model's, bit for bit, and the golden model does what its paper says."""

from __future__ import annotations

import itertools
import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Departure, Kind, Window, of_bytes
from sim.golden.congestion.startup.ssipp import POLICY, SsippState

SMSS = 1460
START = Window(of_bytes(10 * SMSS), of_bytes(64 * SMSS))


def test_ssipp() -> None:
    run_module("PolicySsipp", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """The bytes that have grown the window already are about those that this ACK acknowledges, or a segment less."""
    counted = draw.choice([event.acked_bytes, event.acked_bytes - event.segment_size]) + draw.randint(-2, 2)
    return SsippState(draw.getrandbits(1), draw.getrandbits(1), min(max(counted, 0), (1 << 16) - 1)).packed()


def ack(kind: Kind, acked: int) -> CongestionEvent:
    return CongestionEvent(kind, starting_up=True, acked_bytes=acked, segment_size=SMSS)


def test_a_pairs_two_acks_grow_the_window_by_two_segments() -> None:
    """Yu: one for the ACK of the first half, one for the ACK of both."""
    first = POLICY.respond(ack(Kind.PAIRED, 0), START, 1)
    assert first.window == Window(START.cwnd + of_bytes(SMSS), START.ssthresh)
    both = POLICY.respond(ack(Kind.ACKNOWLEDGED, 2 * SMSS), first.window, first.policy_state)
    assert both.window == Window(START.cwnd + of_bytes(2 * SMSS), START.ssthresh)


@pytest.mark.parametrize("parts", [1, 2, 3, 8, 1460])
def test_a_pair_that_is_acknowledged_in_parts_grows_the_window_by_two_segments_at_most(parts: int) -> None:
    """Savage and others: a receiver gains nothing by dividing ACKs, nor by the first half's ACK before them."""
    window, policy_state, edges = START, 1, [2 * SMSS * part // parts for part in range(parts + 1)]
    for _ in range(20):
        result = POLICY.respond(ack(Kind.PAIRED, 0), window, policy_state)
        for begin, end in itertools.pairwise(edges):
            result = POLICY.respond(ack(Kind.ACKNOWLEDGED, end - begin), result.window, result.policy_state)
        assert result.window.cwnd == window.cwnd + of_bytes(2 * SMSS)
        window, policy_state = result.window, result.policy_state


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT, Kind.ESTABLISHED])
def test_a_loss_or_a_new_connection_owes_nothing(kind: Kind) -> None:
    result = POLICY.respond(ack(Kind.PAIRED, 0), START, 1)
    assert SsippState.unpacked(result.policy_state).ahead == SMSS
    result = POLICY.respond(ack(kind, 0), START, result.policy_state)
    assert SsippState.unpacked(result.policy_state).ahead == 0


def test_the_first_segment_goes_alone_and_after_a_loss_all_do() -> None:
    event = CongestionEvent(
        Kind.ESTABLISHED, starting_up=True, segment_size=SMSS, initial_window=2, initial_ssthresh=65536
    )
    result = POLICY.respond(event, START, 0)
    assert result.departure == Departure()
    result = POLICY.respond(ack(Kind.SENT, 0), START, result.policy_state)
    assert result.departure == Departure(inverted=True)
    result = POLICY.respond(ack(Kind.LOSS, 0), START, result.policy_state)
    result = POLICY.respond(ack(Kind.SENT, 0), START, result.policy_state)
    assert result.departure == Departure()


def test_a_timeout_begins_the_pairs_again() -> None:
    """Yu, pp. 50 and 55: inversion belongs to slow start, and what follows a timeout is one."""
    policy_state, inverted = 1, []
    for kind in (Kind.SENT, Kind.LOSS, Kind.RECOVERED, Kind.SENT, Kind.TIMEOUT, Kind.SENT, Kind.TIMEOUT_AGAIN):
        result = POLICY.respond(ack(kind, 0), START, policy_state)
        policy_state = result.policy_state
        inverted.append(result.departure is not None and result.departure.inverted)
    assert inverted == [True, False, False, False, True, True, True]


def float_error(draw: random.Random) -> float:
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, SMSS), draw, starting_up=True)
