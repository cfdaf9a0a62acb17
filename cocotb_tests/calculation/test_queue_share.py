# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The queue's share of a window: the unit is its golden model's, bit for bit, and the model is the equation."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.unit import agrees_with_golden_model
from sim.golden.calculation.queue_share import CALCULATOR, MAX, Request, share

MICROSECOND = 1000
SMSS = 1000


def test_queue_share() -> None:
    run_module("CalculatorQueueshare", __name__)


def drawn(draw: random.Random) -> int:
    """Paths, one sample or many; and any bits."""
    if draw.random() < 0.2:
        return draw.getrandbits(CALCULATOR.request_bits)
    base, count = draw.randrange(1, 1 << draw.randint(2, 36)), draw.choice([1, 1, 2, 16, 4095])
    total = min(count * base + draw.randrange(count * base), (1 << 48) - 1)
    return Request(draw.getrandbits(draw.randint(1, 32)), draw.choice([total, total, 0]), count, base).packed()


@cocotb.test()
async def unit_agrees_with_the_golden_model(dut: Any) -> None:
    draw = generator()
    await agrees_with_golden_model(dut, CALCULATOR, ((draw.randrange(16), drawn(draw)) for _ in range(500)), 1_600)


@pytest.mark.parametrize(
    ("segments", "base", "rtt", "diff"),
    # Vectors of the specification: diff in segments with 8 fraction bits.
    [
        (16, 100_000, 106_000, 231),
        (16, 100_000, 108_000, 303),
        (64, 100_000, 101_000, 162),
        (64, 100_000, 102_000, 321),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 100])
def test_the_share_is_diff(segments: int, base: int, rtt: int, diff: int, count: int) -> None:
    requested = Request(segments * SMSS, count * rtt * MICROSECOND, count, base * MICROSECOND)
    assert share(requested) * 256 // SMSS == diff


def test_the_share_is_the_equation_s_rounded_down() -> None:
    """A total of more than 32 bits loses what is shifted out: 2^-31 of the window, and the last byte."""
    draw = random.Random(1)
    for _ in range(2000):
        requested = Request.unpacked(drawn(draw))
        if requested.total == 0:
            assert share(requested) == MAX
            continue
        excess = max(requested.total - requested.count * requested.base, 0)
        exact = min(Fraction(requested.window * excess, requested.total), Fraction(MAX))
        assert abs(share(requested) - exact) < 1 + Fraction(requested.window, 1 << 30)
