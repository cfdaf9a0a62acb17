# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The window of a gap: the unit is its golden model's, bit for bit, and the model divides."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.unit import agrees_with_golden_model
from sim.golden.calculation.gap_window import CALCULATOR, request, window

MILLISECOND = 1_000_000


def test_gap_window() -> None:
    run_module("CalculatorGapwindow", __name__)


def drawn(draw: random.Random) -> int:
    """Gaps and round trips of paths, of nothing, and any bits."""
    if draw.random() < 0.7:
        gap = draw.randrange(1, 30 * MILLISECOND)
        return request(gap, draw.randrange(gap // 2, 1000 * MILLISECOND + gap), draw.choice([64, 536, 1460, 9000]))
    return request(
        draw.choice([0, 1, draw.getrandbits(36)]), draw.getrandbits(draw.randint(1, 36)), draw.getrandbits(16)
    )


@cocotb.test()
async def unit_agrees_with_the_golden_model(dut: Any) -> None:
    draw = generator()
    await agrees_with_golden_model(dut, CALCULATOR, ((draw.randrange(16), drawn(draw)) for _ in range(300)), 300)


def test_whole_segments_that_a_round_trip_holds() -> None:
    assert window(100 * MILLISECOND, 12 * MILLISECOND, 1460) == 8 * 1460
    assert window(96 * MILLISECOND, 12 * MILLISECOND, 1460) == 8 * 1460
    assert window(96 * MILLISECOND - 1, 12 * MILLISECOND, 1460) == 7 * 1460
    assert window(1000 * MILLISECOND, 120, 1460) == 1 << 30
