# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Holds a unit that takes a question each clock against its golden model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cocotb.triggers import RisingEdge

from cocotb_tests.bench import Beat, StreamSink, StreamSource, start


async def agrees(dut: Any, cases: Sequence[tuple[Beat, Beat]]) -> None:
    """Each case is a question and its answer: they go in one a clock and come out in order."""
    source, sink = StreamSource(dut, "question"), StreamSink(dut, "answer")
    await start(dut)
    for question, _ in cases:
        source.put(question)
    await source.drained(2 * len(cases))
    for question, answer in cases:
        assert await sink.receive(1000) == answer, f"{question}"


async def latency(dut: Any) -> int:
    """Clocks from a question to its answer, the same with another question right before it."""
    await start(dut, question_valid=0)
    seen = set()
    for ahead in (0, 1):
        dut.question_valid.value = 1
        for _ in range(ahead + 1):
            await RisingEdge(dut.clk)
        dut.question_valid.value = 0
        answers: list[int] = []
        for clock in range(1, 400):
            await RisingEdge(dut.clk)
            if dut.answer_valid.value == 1:
                answers.append(clock)
        assert len(answers) == ahead + 1
        seen.add(answers[-1])
    assert len(seen) == 1, f"not always the same: {seen}"
    return seen.pop()
