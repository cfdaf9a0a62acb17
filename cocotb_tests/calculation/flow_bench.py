# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Holds a unit that takes a question each clock, or in every so many, against its golden model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cocotb.triggers import ClockCycles, RisingEdge

from cocotb_tests.bench import Beat, StreamSink, StreamSource, start


async def agrees(dut: Any, cases: Sequence[tuple[Beat, Beat]], spacing: int = 1, most: int = 10) -> None:
    """Each case is a question and its answer: in `spacing` clocks apart, or as the unit is ready, and out in order.

    All are taken in `most` clocks each.
    """
    source, sink = StreamSource(dut, "question"), StreamSink(dut, "answer")
    await start(dut)
    for question, _ in cases:
        source.put(question)
        if spacing > 1:
            await ClockCycles(dut.clk, spacing)
    await source.drained(most * len(cases))
    for question, answer in cases:
        assert await sink.receive(1000) == answer, f"{question}"


async def latency(dut: Any, spacing: int = 1) -> int:
    """Clocks from a question to its answer, the same with another question `spacing` clocks before it."""
    await start(dut, question_valid=0)
    seen = set()
    for ahead in (0, 1):
        answers: list[int] = []
        for clock in range(-spacing * ahead, 400):
            dut.question_valid.value = int(clock in (-spacing, 0))
            await RisingEdge(dut.clk)
            if dut.answer_valid.value == 1:
                answers.append(clock)
        assert len(answers) == ahead + 1
        seen.add(answers[-1])
    assert len(seen) == 1, f"not always the same: {seen}"
    return seen.pop()
