# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SPM, then Astart: the RTL is its golden model's, bit for bit; SPM is untouched until it is over, then the estimate
counts."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.startup import test_spm
from cocotb_tests.congestion.startup.conversation import Conversation
from sim.golden.congestion.seam import CongestionEvent, Kind, Window
from sim.golden.congestion.startup import spm
from sim.golden.congestion.startup.spmastart import POLICY, SpmastartState

SMSS = 1000


def test_spmastart() -> None:
    run_module("PolicySpmastart", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    state = spm.SpmState.unpacked(test_spm.near(draw, event, window))
    return SpmastartState(draw.randrange(2), draw.randrange(2), state, draw.randrange(2)).packed()


def opened(initial_window: int = 2, state: SpmastartState | None = None) -> Conversation:
    connection = Conversation(POLICY, segment_size=SMSS, initial_window=initial_window)
    if state is not None:
        connection.state.startup_policy_state = state.packed()
    return connection


def estimates(connection: Conversation, segments: int) -> float:
    """ssthresh after it, segments."""
    connection.see(CongestionEvent(Kind.ESTIMATED, segment_size=SMSS, ere=segments * SMSS))
    return connection.segments_of_ssthresh()


@pytest.mark.parametrize(
    ("segments", "state", "counts"),
    [
        (2, spm.SpmState(), False),  # SPM measures while the window is small
        (40, spm.SpmState(count=11), True),  # the window has reached ssthresh and samples are missing
        (40, spm.SpmState(count=12), False),  # SPM's estimate is due
        (2, spm.SpmState(count=12, over=1), True),  # it has been made
    ],
)
def test_the_estimate_counts_where_spm_has_none_to_come(segments: int, state: spm.SpmState, counts: bool) -> None:
    connection = opened(segments, SpmastartState(spm=state))
    assert estimates(connection, 100) == (100 if counts else 32)


def test_it_is_spm_event_by_event_while_there_is_no_estimate() -> None:
    draw = random.Random(1)
    own, its = 0, 0
    for _ in range(3000):
        event = CongestionEvent(
            draw.choice(list(Kind)), draw.random() < 0.5, 1000, segment_size=SMSS, flight=5000, initial_window=2
        )
        if event.kind is Kind.CALCULATED:
            continue
        window = Window(draw.getrandbits(40), draw.getrandbits(40))
        left, right = POLICY.respond(event, window, own), spm.POLICY.respond(event, window, its)
        assert (left.window, left.departure, left.calculation) == (right.window, right.departure, right.calculation)
        own, its = left.policy_state, right.policy_state


def test_a_loss_ends_both_and_a_timeout_begins_astart() -> None:
    connection = opened(20)
    connection.see(CongestionEvent(Kind.LOSS, flight=20 * SMSS, segment_size=SMSS, uninflated=True))
    assert estimates(connection, 100) == 10
    connection.see(CongestionEvent(Kind.TIMEOUT, flight=10 * SMSS, segment_size=SMSS, uninflated=True))
    assert estimates(connection, 100) == 100
