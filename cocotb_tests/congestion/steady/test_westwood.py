# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Westwood: the RTL is its golden model's, bit for bit, and a loss leaves what the slides say."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from sim.golden.congestion.seam import CongestionEvent, Kind, Window, of_bytes
from sim.golden.congestion.startup.standard import POLICY as STANDARD
from sim.golden.congestion.steady import reno
from sim.golden.congestion.steady.westwood import POLICY, WestwoodState
from sim.golden.window import CongestionState

SMSS = 1040
RTT_MINIMUM = 0.44  # s


def test_westwood() -> None:
    run_module("PolicyWestwood", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Reno's credit about to be enough."""
    credit = max((window.cwnd >> 16) - event.acked_bytes + draw.randint(-1, 1), 0) % (1 << 32)
    return WestwoodState(draw.randrange(2), draw.randrange(2), credit).packed()


def connection(segments: int, argument: int = 0) -> CongestionState:
    state = CongestionState(STANDARD, POLICY, steady_policy_state=argument)
    state.window = Window(of_bytes(segments * SMSS), of_bytes(segments * SMSS))
    return state


@pytest.mark.parametrize(
    ("rate", "before", "threshold", "after"),
    # Vectors `tcpw` of the specification: ERE in bytes/s, windows in segments.
    [(85_000, 60, 35, 35), (85_000, 20, 35, 20), (1_000, 20, 2, 2)],
)
@pytest.mark.parametrize("argument", range(4))
def test_a_loss_leaves_the_estimate_and_the_window_never_rises(
    rate: int, before: int, threshold: int, after: int, argument: int
) -> None:
    window = int(rate * RTT_MINIMUM)
    wrong = 123 * SMSS
    event = CongestionEvent(Kind.LOSS, uninflated=True, flight=before * SMSS, segment_size=SMSS)
    taken = ["ere", "bwe", "sliding", "bwe"][argument]
    bwe, ere, sliding = (window if name == taken else wrong for name in ("bwe", "ere", "sliding"))
    event = replace(event, bwe=bwe, ere=ere, sliding=sliding)
    state = connection(before, argument)
    state.see(event)
    assert state.window.ssthresh // of_bytes(SMSS) == threshold
    assert state.window.cwnd // of_bytes(SMSS) == after
    state = connection(before, argument)
    state.see(replace(event, kind=Kind.TIMEOUT))
    assert (state.window.ssthresh // of_bytes(SMSS), state.window.cwnd) == (threshold, of_bytes(SMSS))


@pytest.mark.parametrize("before", [20, 60])
def test_three_duplicates_inflate_what_the_loss_leaves(before: int) -> None:
    """RFC 6582 3.2 step 2, from the window that the loss has left."""
    state = connection(before)
    state.see(CongestionEvent(Kind.LOSS, flight=before * SMSS, segment_size=SMSS, ere=35 * SMSS))
    assert state.window.cwnd == of_bytes((min(before, 35) + 3) * SMSS)


def test_without_an_estimate_it_is_reno() -> None:
    draw = random.Random(1)
    own, its = connection(20), connection(20)
    its.steady = reno.POLICY
    for _ in range(3000):
        event = CongestionEvent(
            draw.choice([Kind.ACKNOWLEDGED] * 20 + [Kind.LOSS, Kind.TIMEOUT, Kind.RECOVERED]),
            acked_bytes=draw.randrange(3 * SMSS),
            flight=own.window.cwnd >> 16,
            segment_size=SMSS,
        )
        assert own.see(event) == its.see(event)
