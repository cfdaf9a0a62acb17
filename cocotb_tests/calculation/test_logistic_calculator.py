# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic unit as policies ask it: fields packed as the golden policy packs them, an response to each request in
order."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.calculation.flow_bench import agrees
from sim.golden.calculation.logistic_draws import draw_request
from sim.golden.calculation.logistic_window import logistic_window

REQUESTS = 500
# By module, clocks within which it takes a request: pipelined each clock, single when the one before is answered.
MAX = {"CalculatorLogistic": 2, "CalculatorLogisticSpaced": 428}
FLOWS = 16


@pytest.mark.parametrize("module", MAX)
def test_logistic_calculator(module: str) -> None:
    run_module(module, __name__, label=module)


@cocotb.test()
async def requests_of_any_flows_are_answered_in_order(dut: Any) -> None:
    draw = generator()
    requested = [draw_request(draw) for _ in range(REQUESTS)]
    await agrees(
        dut,
        [
            ({"flow": draw.randrange(FLOWS), "operands": request.packed()}, {"payload": logistic_window(request)})
            for request in requested
        ],
        maximum=MAX[dut._name],
    )
