# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The bins of SEARCH: the unit is its golden model's, bit for bit. cocotb_tests/congestion/startup has the draft beside
it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.unit import agrees_with_golden_model, in_turns
from sim.golden.calculation.search_bins import CALCULATOR, Bins, Request, Response

MILLISECOND = 1_000_000


def test_search_bins() -> None:
    run_module("CalculatorSearchbins", __name__)


def connection(draw: random.Random) -> Iterator[int]:
    """Requests of one connection, whose index is right; now and then one of any bits, and a pause."""
    initial = draw.choice([draw.randrange(1, 300 * MILLISECOND), draw.randrange(3), draw.getrandbits(36)])
    rate = draw.choice([1, 100, 100_000, 1 << 22])
    requested, index = Request(initial, begins=1), 0
    bins = Bins()
    for _ in range(draw.choice([3, 30, 100])):
        slow = draw.uniform(0, 1)
        requested = replace(
            requested,
            late=min(round(initial * draw.choice([0.1, 0.1, 0.1, 0.5, 1, 3.6])), (1 << 36) - 1),
            index=index,
            acked=draw.choice([(requested.acked + round(slow * rate)) % (1 << 24)] * 9 + [requested.sent]),
            sent=(requested.sent + draw.choice([rate, rate, 0])) % (1 << 24),
        )
        yield requested.packed()
        given = Response.unpacked(bins.response(requested.packed()))
        requested, index = replace(requested, begins=given.restarts), given.index
    if draw.random() < 0.2:
        yield draw.getrandbits(CALCULATOR.request_bits)


@cocotb.test()
async def unit_agrees_with_the_golden_model(dut: Any) -> None:
    await agrees_with_golden_model(dut, CALCULATOR, in_turns(generator(), connection, 1500))


@pytest.mark.parametrize(("share", "exits"), [(1.0, 0), (0.75, 0), (0.73, 1), (0.0, 1)])
def test_a_quarter_less_than_was_sent_a_round_trip_before_ends_it(share: float, exits: int) -> None:
    """A sender of a steady rate, of which a share is delivered; R = 10 ms is 2.86 bins."""
    bins, requested = Bins(), Request(10 * MILLISECOND, begins=1)
    given, acked, found = Response.unpacked(bins.response(requested.packed())), 0, 0
    assert given.step == 3_500_000
    for number in range(1, 40):
        # The acknowledged bytes were sent 2.86 bins before; from the twentieth bin on only a share is.
        acked = round(max(number - 2.86, 0) * 10_000) if number < 20 else acked + round(10_000 * share)
        requested = Request(10 * MILLISECOND, 1, given.index, acked, number * 10_000)
        given = Response.unpacked(bins.response(requested.packed()))
        assert not given.exits or number >= 22
        found |= given.exits
    assert found == exits


def test_bins_without_an_ack_repeat_the_ones_before_and_ten_begin_again() -> None:
    for late, index in ((0, 1), (1, 1), (3_500_000, 2), (10 * 3_500_000 - 1, 10)):
        given = Response.unpacked(Bins().response(Request(10 * MILLISECOND, late).packed()))
        assert (given.index, given.step, given.restarts) == (index, index * 3_500_000, 0)
    given = Response.unpacked(Bins().response(Request(10 * MILLISECOND, 35 * MILLISECOND).packed()))
    assert given.restarts == 1
