# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The exponential: its RTL is the golden model, bit for bit; the golden model keeps to e^-x and 1 - e^-x."""

from __future__ import annotations

import math
import random
from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import draws, generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.flow_bench import agrees, latency
from sim.golden.calculation.exponential import FRACTION_BITS, INTEGER_BITS, MANTISSA_BITS, factor

REQUESTS = draws(5000, 50_000)
# By module, clocks from request to request.
SPACING = {"Exponential": 1, "ExponentialSingle": 139}
CLOCKS = {"Exponential": 20, "ExponentialSingle": 139}
Y_BITS = INTEGER_BITS + FRACTION_BITS


@pytest.mark.parametrize("module", SPACING)
def test_exponential(module: str) -> None:
    run_module(module, __name__, label=module)


def _y(draw: random.Random) -> int:
    """Any size; the ends of the range, of a whole number and of each table's step."""
    step = 1 << draw.choice([0, 36, 45, FRACTION_BITS])
    near = draw.randrange((1 << Y_BITS) // step) * step + draw.choice([-1, 0, 1])
    small = draw.getrandbits(FRACTION_BITS)
    return draw.choice([0, (1 << Y_BITS) - 1, draw.getrandbits(draw.randint(1, Y_BITS)), near, small]) % (1 << Y_BITS)


@cocotb.test()
async def answers_are_those_of_the_golden_model(dut: Any) -> None:
    draw, cases = generator(), []
    for _ in range(REQUESTS // SPACING[dut._name] + 500):
        y, decay = _y(draw), draw.random() < 0.5
        mantissa, exponent = factor(y, decay=decay)
        cases.append(({"y": y, "decay": int(decay)}, {"mantissa": mantissa, "exponent": exponent}))
    await agrees(dut, cases, SPACING[dut._name])


@cocotb.test()
async def a_response_comes_so_many_clocks_after_the_request(dut: Any) -> None:
    assert await latency(dut, SPACING[dut._name]) == CLOCKS[dut._name]


def value(y: int, *, decay: bool) -> float:
    mantissa, exponent = factor(y, decay=decay)
    return mantissa * 2.0 ** -(MANTISSA_BITS + exponent)


def test_what_is_left_is_right_to_2_34_and_to_2_19_however_small() -> None:
    draw = random.Random(1)
    for _ in range(50_000):
        y = _y(draw)
        exact = math.exp2(-y / 2**FRACTION_BITS)
        assert abs(value(y, decay=False) - exact) <= 2**-34 * min(1, 2**15 * exact)


def test_what_is_lost_is_right_to_2_34_and_to_2_19_down_to_2_53() -> None:
    draw = random.Random(2)
    for _ in range(50_000):
        y = _y(draw)
        exact = -math.expm1(-y / 2**FRACTION_BITS * math.log(2))
        assert abs(value(y, decay=True) - exact) <= max(2**-34 * min(1, 2**15 * exact), 2**-53)


@pytest.mark.parametrize("x", [0, 1e-5, 0.001, 0.25, 0.5, 0.999, 1, 1.5, 2, 7.75, 19.5])
def test_e_to_the_minus_x_where_a_polynomial_of_degree_4_is_published(x: float) -> None:
    """Its table ends at 3e-9 with an error of 18 %; test_degree4 has it."""
    y = round(x / math.log(2) * 2**FRACTION_BITS)
    assert value(y, decay=False) == pytest.approx(math.exp(-x), rel=2**-19)


def test_nothing_is_lost_in_no_time() -> None:
    assert value(0, decay=True) == 0
