# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Holds a calculator's unit against its golden model: the same questions to both, the same answers from both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cocotb_tests.bench import StreamSink, StreamSource, start
from cocotb_tests.golden.congestion.seam import Calculator

MOST_CLOCKS = 600  # of a question

Asked = tuple[int, int]  # flow, question


async def agrees_with_golden_model(dut: Any, calculator: Calculator, questions: Iterable[Asked]) -> None:
    """Each flow has a golden unit of its own, with what that remembers."""
    source, sink = StreamSource(dut, "question"), StreamSink(dut, "answer")
    units: dict[int, Callable[[int], int]] = {}
    await start(dut)
    for flow, question in questions:
        source.put({"flow": flow, "question": question})
        expected = units.setdefault(flow, calculator.unit())(question)
        answer = (await sink.receive(MOST_CLOCKS))["payload"]
        assert answer == expected, f"flow {flow}: {question:#x} gives {answer:#x}, not {expected:#x}"
