# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Compares a unit that takes a request in each clock, or in every so many, with its golden model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cocotb.triggers import ClockCycles, RisingEdge

from cocotb_tests.bench import Beat, StreamSink, StreamSource, start


async def agrees(dut: Any, cases: Sequence[tuple[Beat, Beat]], spacing: int = 1, maximum: int = 10) -> None:
    """Each case is a request and its response: in `spacing` clocks apart, or as the unit is ready, and out in order.

    All are taken in `maximum` clocks each.
    """
    source, sink = StreamSource(dut, "request"), StreamSink(dut, "response")
    await start(dut)
    for request, _ in cases:
        source.put(request)
        if spacing > 1:
            await ClockCycles(dut.clk, spacing)
    await source.drained(maximum * len(cases))
    for request, response in cases:
        assert await sink.receive(1000) == response, f"{request}"


async def latency(dut: Any, spacing: int = 1) -> int:
    """Clocks from a request to its response, the same with another request `spacing` clocks before it."""
    await start(dut, request_valid=0)
    seen = set()
    for ahead in (0, 1):
        responses: list[int] = []
        for clock in range(-spacing * ahead, 500):
            dut.request_valid.value = int(clock in (-spacing, 0))
            await RisingEdge(dut.clk)
            if dut.response_valid.value == 1:
                responses.append(clock)
        assert len(responses) == ahead + 1
        seen.add(responses[-1])
    assert len(seen) == 1, f"not always the same: {seen}"
    return seen.pop()
