# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Standard slow start: the RTL is its golden model's, bit for bit, and the golden model is RFC 5681's."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, Window, of_bytes
from sim.golden.congestion.startup.standard import POLICY

SMSS = 1460
START = Window(of_bytes(10 * SMSS), of_bytes(64 * SMSS))


def test_standard() -> None:
    run_module("PolicyStandard", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY)


def rfc_5681(cwnd: float, acked: float) -> float:
    """Equation 2: cwnd += min(N, SMSS)."""
    return cwnd + min(acked, SMSS)


@pytest.mark.parametrize(("acked", "increment"), [(500, 500), (1460, 1460), (2920, 1460), (5840, 1460)])
def test_an_ack_adds_what_it_acknowledges_but_one_segment_at_most(acked: int, increment: int) -> None:
    event = CongestionEvent(Kind.ACKNOWLEDGED, starting_up=True, acked_bytes=acked, segment_size=SMSS)
    after = POLICY.respond(event, START, 0).window
    assert after == Window(START.cwnd + of_bytes(increment), START.ssthresh)
    assert after.cwnd == of_bytes(1) * rfc_5681(START.cwnd / of_bytes(1), acked)


def test_a_connection_starts_with_its_initial_window_and_ssthresh() -> None:
    event = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=16, initial_ssthresh=65536)
    assert POLICY.respond(event, START, 0).window == Window(of_bytes(16 * 1460), of_bytes(65536))


def test_a_window_of_acks_doubles_the_window() -> None:
    window, modelled = START, START.cwnd / of_bytes(1)
    for _ in range(10):
        event = CongestionEvent(Kind.ACKNOWLEDGED, starting_up=True, acked_bytes=SMSS, segment_size=SMSS)
        window = POLICY.respond(event, window, 0).window
        modelled = rfc_5681(modelled, SMSS)
    # Whole bytes throughout: no tolerance.
    assert window.cwnd == of_bytes(2 * 10 * SMSS) == of_bytes(1) * modelled


def float_error(draw: random.Random) -> float:
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, SMSS), draw, starting_up=True)
