# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The logistic unit as policies ask it: fields packed as the golden policy packs them, an answer to each question in order."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_room
from cocotb_tests.calculation.flow_bench import agrees
from cocotb_tests.calculation.logistic_draws import draw_question
from cocotb_tests.golden.calculation.logistic_window import logistic_window
from cocotb_tests.golden.congestion.steady.logistic import pack

QUESTIONS = 500
# By room, clocks within which it takes a question: pipelined each clock, single when the one before is answered.
MOST = {"CalculatorLogistic": 2, "CalculatorLogisticSpaced": 125}
FLOWS = 16


@pytest.mark.parametrize("room", MOST)
def test_logistic_calculator(room: str) -> None:
    run_room(room, __name__, label=room)


@cocotb.test()
async def questions_of_any_flows_are_answered_in_order(dut: Any) -> None:
    draw = generator()
    asked = [draw_question(draw) for _ in range(QUESTIONS)]
    await agrees(
        dut,
        [
            ({"flow": draw.randrange(FLOWS), "question": pack(question)}, {"payload": logistic_window(question)})
            for question in asked
        ],
        most=MOST[dut._name],
    )
