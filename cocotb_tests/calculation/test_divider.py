# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The divider, pipelined and single: each quotient is its golden model's, in order, after the stated clocks."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import draws, generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.flow_bench import agrees, latency
from sim.golden.calculation.divider import quotient

# The widths of each module, as Modules.scala has them: numerator, denominator, quotient. And clocks from request to
# request.
WIDTHS = {"Divider": (60, 32, 28), "DividerNarrow": (9, 12, 9), "DividerSingle": (60, 32, 28)}
SPACING = {"DividerSingle": 30}
REQUESTS = draws(5000, 50_000)


@pytest.mark.parametrize("module", WIDTHS)
def test_divider(module: str) -> None:
    run_module(module, __name__, label=module)


def _widths(dut: Any) -> tuple[int, int, int]:
    return WIDTHS[dut._name]


def _spacing(dut: Any) -> int:
    return SPACING.get(dut._name, 1)


def _division(draw: random.Random, widths: tuple[int, int, int]) -> tuple[int, int]:
    """Anything; small numbers; a quotient about to be one more, or about not to fit; zeros and ones."""
    numerator_bits, denominator_bits, quotient_bits = widths
    denominator = draw.choice([0, 1, (1 << denominator_bits) - 1, draw.getrandbits(draw.randint(1, denominator_bits))])
    exact = denominator * draw.choice([1 << quotient_bits, draw.getrandbits(draw.randint(1, quotient_bits))])
    numerator = draw.choice(
        [0, (1 << numerator_bits) - 1, draw.getrandbits(numerator_bits), exact - 1, exact, exact + 1]
    )
    return max(numerator, 0) % (1 << numerator_bits), denominator


@cocotb.test()
async def quotients_are_rounded_down_and_all_ones_where_they_do_not_fit(dut: Any) -> None:
    draw = generator()
    requested = [_division(draw, _widths(dut)) for _ in range(REQUESTS // _spacing(dut) + 500)]
    bits = _widths(dut)[2]
    cases = [({"numerator": n, "denominator": d}, {"payload": quotient(n, d, bits)}) for n, d in requested]
    await agrees(dut, cases, _spacing(dut))


@cocotb.test()
async def a_response_comes_two_clocks_and_its_bits_after_the_request(dut: Any) -> None:
    assert await latency(dut, _spacing(dut)) == _widths(dut)[2] + 2
