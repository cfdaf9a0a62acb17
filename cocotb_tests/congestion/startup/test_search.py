# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SEARCH: the RTL is its golden model's, bit for bit, and the golden model leaves slow start where the draft does."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import draws
from cocotb_tests.bench.results import note
from cocotb_tests.bench.runner import run_module
from cocotb_tests.congestion.equation import largest_error
from cocotb_tests.congestion.policy_bench import agrees_with_golden_model
from cocotb_tests.congestion.startup.search_draft import SMSS, Draft, trace
from sim.golden.calculation.search_bins import Response
from sim.golden.congestion.seam import Calculated, CongestionEvent, Kind, PolicyResult, Window, of_bytes
from sim.golden.congestion.startup.search import POLICY, SearchState

MILLISECOND = 1_000_000


def test_search() -> None:
    run_module("PolicySearch", __name__)


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, POLICY, near)


def near(draw: random.Random, event: CongestionEvent, window: Window) -> int:
    """Bins about to be over, or over for long."""
    late = draw.choice([-1, 0, 1, 1000, (1 << 36) - 1, 1 << 36])
    return SearchState(
        round_trip=draw.choice([0, draw.getrandbits(36)]),
        initial_rtt=draw.getrandbits(36),
        bin_end=(event.now - late) % (1 << 48),
        index=draw.getrandbits(6),
        acked=draw.getrandbits(32),
        begun=draw.random() < 0.7,
        over=draw.random() < 0.2,
    ).packed()


def opened() -> PolicyResult:
    event = CongestionEvent(Kind.ESTABLISHED, segment_size=SMSS, initial_window=10, initial_ssthresh=1 << 30)
    return POLICY.respond(event, Window(0, 0), 0)


def exits(draw: random.Random) -> tuple[int | None, int | None]:
    """The rounds in which the draft and the model leave slow start. The model has one sample in a round."""
    draft, unit, state = Draft(), POLICY.calculator.unit(), opened()
    ours: int | None = None
    theirs: int | None = None
    sent = acked = 0
    sampled = -1
    for ack in trace(draw):
        sent, acked = acked + ack.flight, acked + ack.acked
        if theirs is None and draft.ack(ack.now / 1e9, acked, sent, ack.rtt / 1e9):
            theirs = ack.round
        if ours is None:
            event = CongestionEvent(
                Kind.ACKNOWLEDGED,
                starting_up=True,
                acked_bytes=ack.acked,
                flight=ack.flight,
                segment_size=SMSS,
                now=ack.now,
                rtt=ack.rtt if ack.round != sampled else None,
            )
            sampled = ack.round
            state = POLICY.respond(event, state.window, state.policy_state)
            if state.calculation is not None:
                given = Calculated(unit(state.calculation.request), state.calculation.note, of_startup=True)
                event = replace(event, kind=Kind.CALCULATED, calculated=given, rtt=None)
                state = POLICY.respond(event, state.window, state.policy_state)
                ours = ack.round if state.window.ssthresh == state.window.cwnd else None
        if ours is not None and theirs is not None:
            break
    return theirs, ours


def test_it_leaves_slow_start_in_the_draft_s_round() -> None:
    draw = random.Random(1)
    found = [exits(draw) for _ in range(draws(40, 1000))]
    same = sum(theirs == ours for theirs, ours in found)
    note(f"{same} of {len(found)} traces end in the round of the draft")
    assert sum(theirs is not None for theirs, _ in found) > 0.8 * len(found)
    assert same >= 0.95 * len(found), [pair for pair in found if pair[0] != pair[1]]


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
def test_a_loss_ends_it(kind: Kind) -> None:
    state = POLICY.respond(CongestionEvent(kind, segment_size=SMSS), opened().window, opened().policy_state)
    event = CongestionEvent(
        Kind.ACKNOWLEDGED, starting_up=True, acked_bytes=4 * SMSS, rtt=MILLISECOND, segment_size=SMSS
    )
    after = POLICY.respond(event, state.window, state.policy_state)
    assert after.calculation is None
    assert after.window.cwnd == of_bytes(11 * SMSS)


def test_an_exit_that_a_loss_has_overtaken_is_none() -> None:
    given = Calculated(Response(1000, 20, exits=1).packed(), of_startup=True, stale=True)
    state = SearchState(round_trip=1000, begun=1)
    event = CongestionEvent(Kind.CALCULATED, calculated=given, segment_size=SMSS)
    after = SearchState.unpacked(POLICY.respond(event, opened().window, state.packed()).policy_state)
    assert (after.over, after.index) == (0, 20)


def float_error(draw: random.Random) -> float:
    """The error of the window; where it stops is compared above."""
    return largest_error(POLICY, lambda cwnd, acked: cwnd + min(acked, 8 * SMSS), draw, starting_up=True)
