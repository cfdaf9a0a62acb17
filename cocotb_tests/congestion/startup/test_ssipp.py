# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SSIPP: the RTL is its golden model's, bit for bit, and the golden model does what its paper says."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_room
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.golden.congestion.seam import CongestionEvent, Departure, Kind, Window, of_bytes
from cocotb_tests.golden.congestion.startup.ssipp import POLICY

SMSS = 1460
START = Window(of_bytes(10 * SMSS), of_bytes(64 * SMSS))


def test_ssipp() -> None:
    run_room("PolicySsipp", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY)


def ack(kind: Kind, acked: int) -> CongestionEvent:
    return CongestionEvent(kind, starting_up=True, acked_bytes=acked, segment_size=SMSS)


def test_a_pairs_two_acks_grow_the_window_by_two_segments() -> None:
    """Yu: one for the ACK of the first half, one for the ACK of both."""
    window = POLICY.answer(ack(Kind.PAIRED, 0), START, 1).window
    window = POLICY.answer(ack(Kind.ACKNOWLEDGED, 2 * SMSS), window, 1).window
    assert window == Window(START.cwnd + of_bytes(2 * SMSS), START.ssthresh)


def test_the_first_segment_goes_alone_and_after_a_loss_all_do() -> None:
    event = CongestionEvent(
        Kind.ESTABLISHED, starting_up=True, segment_size=SMSS, initial_window=2, initial_ssthresh=65536
    )
    answer = POLICY.answer(event, START, 0)
    assert answer.departure == Departure()
    answer = POLICY.answer(ack(Kind.SENT, 0), START, answer.word)
    assert answer.departure == Departure(inverted=True)
    answer = POLICY.answer(ack(Kind.LOSS, 0), START, answer.word)
    answer = POLICY.answer(ack(Kind.SENT, 0), START, answer.word)
    assert answer.departure == Departure()


def float_error(draw: random.Random) -> float:
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, SMSS), draw, starting_up=True)
