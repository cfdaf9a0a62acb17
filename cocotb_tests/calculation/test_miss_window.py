# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The window of MISS: the unit is its golden model's, bit for bit."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.unit import agrees_with_golden_model
from sim.golden.calculation.miss_window import CALCULATOR, Request


def test_miss_window() -> None:
    run_module("CalculatorMisswindow", __name__)


def drawn(draw: random.Random) -> int:
    """Paths, nothing, and any bits."""
    if draw.random() < 0.7:
        round_trip = draw.randrange(1, 10**9)
        return Request(
            draw.randrange(1 << 12), draw.randrange(100 * round_trip), round_trip, draw.getrandbits(16)
        ).packed()
    return draw.choice([0, draw.getrandbits(CALCULATOR.request_bits)])


@cocotb.test()
async def unit_agrees_with_the_golden_model(dut: Any) -> None:
    draw = generator()
    await agrees_with_golden_model(dut, CALCULATOR, ((draw.randrange(16), drawn(draw)) for _ in range(200)), 450)
