# SPDX-License-Identifier: BSD-2-Clause-Patent
"""WALI-32: the RTL is its golden model's, bit for bit, a history for each flow; the model is the thesis's mean."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import StreamSink, StreamSource, generator, start
from cocotb_tests.bench.runner import run_module
from sim.golden.calculation.loss_intervals import (
    CALCULATOR,
    ENTRIES,
    LONGEST,
    MEAN_BITS,
    History,
    Mean,
    Request,
    weights,
)

FLOWS = 16
REQUESTS = 600


def test_loss_intervals() -> None:
    run_module("CalculatorLossintervals", __name__)


def request(draw: random.Random, place: int) -> Request:
    segment = draw.choice([64, 536, 1460, 9000])
    interval = draw.choice(
        [0, segment * draw.randrange(2000) + draw.randint(-1, 1), draw.getrandbits(draw.randint(1, 32))]
    )
    history = draw.choice([ENTRIES, 4, draw.randint(4, ENTRIES)])
    count = min(draw.choice([1, 2, 4, 15, 16, 17, 31, ENTRIES, draw.randint(1, ENTRIES)]), history)
    before, variance = draw.getrandbits(draw.randint(1, 28)), draw.choice([1, 10, 100, draw.randint(1, 127)])
    return Request(max(interval, 0), segment, place, count, history, before, variance)


def near(draw: random.Random, unit: Callable[[int], int], requested: Request) -> Request:
    """The same with a mean before it of which this one is the variance away, or one more."""
    mean = Mean.unpacked(unit(requested.packed())).mean
    before = mean * 100 // draw.choice([100 + requested.variance, max(100 - requested.variance, 1)])
    return replace(requested, before=min(max(before + draw.randint(-1, 1), 0), (1 << MEAN_BITS) - 1))


@cocotb.test()
async def rtl_agrees_with_the_golden_model(dut: Any) -> None:
    source, sink, draw = StreamSource(dut, "request"), StreamSink(dut, "response"), generator()
    await start(dut)
    units = [CALCULATOR.unit() for _ in range(FLOWS)]
    places = [draw.randrange(ENTRIES) for _ in range(FLOWS)]
    # A memory that was never written holds anything: fill each history first.
    turns = [flow for flow in range(FLOWS) for _ in range(ENTRIES)] + [draw.randrange(FLOWS) for _ in range(REQUESTS)]
    expected = []
    for number, flow in enumerate(turns):
        requested = request(draw, places[flow])
        if number < FLOWS * ENTRIES:
            requested = replace(requested, count=1 + number % ENTRIES, history=ENTRIES)
        if number < FLOWS * ENTRIES or draw.random() < 0.9:  # otherwise another takes its place
            places[flow] = (places[flow] + 1) % ENTRIES
        elif draw.random() < 0.5:
            requested = near(draw, units[flow], requested)
        source.put({"flow": flow, "operands": requested.packed()})
        expected.append((units[flow](requested.packed()), f"flow {flow} {requested}"))
    for response, requested_text in expected:
        assert (await sink.receive(300))["payload"] == response, requested_text


def test_weights_are_the_thesis_s() -> None:
    """Kannan 4.2.2: w_i = 1 for i <= 16, then 1 - (i - 16) / 17."""
    for i, weight in enumerate(weights(ENTRIES), 1):
        assert abs(weight / 17 - (1 if i <= 16 else 1 - (i - 16) / 17)) < 1e-12
    published = {1: 17, 16: 17, 17: 16, 18: 15, 24: 9, 31: 2, 32: 1}
    assert {i: weights(ENTRIES)[i - 1] for i in published} == published
    assert sum(weights(ENTRIES)) == 408


@pytest.mark.parametrize("length", [4, 8, 9, 16, 31, ENTRIES])
def test_the_mean_is_the_float_equation_within_a_256th(length: int) -> None:
    """w_i = 1 for i <= h / 2, then less by 1 / (1 + h - h / 2) each."""
    draw, history, packets, half = random.Random(length), History(), [], length // 2
    for number in range(200):
        packets.append(draw.randrange(1, draw.choice([20, 2000, LONGEST])))
        count = min(number + 1, length)
        before, variance = draw.randrange(1, 1 << 20), draw.randint(1, 100)
        interval = packets[-1] * 536 + draw.randrange(536)
        given = history.response(Request(interval, 536, number % ENTRIES, count, length, before, variance))
        newest = packets[-count:][::-1]
        shares = [1 - max(i - half, 0) / (1 + length - half) for i in range(1, count + 1)]
        exact = sum(w * i for w, i in zip(shares, newest, strict=True)) / sum(shares)
        assert -1e-6 < exact - given.mean / 256 < 1 / 256 + 1e-6
        assert given.moved == (abs(given.mean / before - 1) > variance / 100)
        if count >= half:
            assert 0 <= sum(newest[:half]) / half - given.newest / 256 < 1 / 256
        if count >= 4:
            assert given.fallen == (sum(newest[:4]) / 4 < given.mean / 256 / 2)


def test_an_interval_asked_twice_counts_once() -> None:
    history = History()
    first = history.response(Request(100 * 1460, 1460, 0, 1))
    assert history.response(Request(100 * 1460, 1460, 0, 1)) == first
    assert history.response(Request(200 * 1460, 1460, 1, 2)).mean == 150 * 256


@pytest.mark.parametrize("interval", [1 << 31, (1 << 32) - 1])
def test_two_gibibytes_without_a_loss_are_the_longest_interval(interval: int) -> None:
    assert History().response(Request(interval, 9000, 0, 1)).mean == LONGEST * 256
