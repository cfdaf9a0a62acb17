# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Compares a calculator's unit with its golden model: the same requests to both, the same responses from both."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cocotb_tests.bench import StreamSink, StreamSource, start
from sim.golden.congestion.seam import Calculator

MAX_CLOCKS = 600  # clocks of a request

Requested = tuple[int, int]  # flow, request


def in_turns(
    draw: random.Random, connection: Callable[[random.Random], Iterator[int]], count: int
) -> Iterator[Requested]:
    """Requests of connections that take turns, on all flows; a flow is used again by the next connection."""
    running = {flow: connection(draw) for flow in range(16)}
    for _ in range(count):
        flow = draw.randrange(16)
        request = next(running[flow], None)
        if request is None:
            running[flow] = connection(draw)
            request = next(running[flow])
        yield flow, request


async def agrees_with_golden_model(
    dut: Any, calculator: Calculator, requests: Iterable[Requested], max_clocks: int = MAX_CLOCKS
) -> None:
    """Each flow has a golden unit of its own, with what that remembers."""
    source, sink = StreamSource(dut, "request"), StreamSink(dut, "response")
    units: dict[int, Callable[[int], int]] = {}
    await start(dut)
    for flow, request in requests:
        source.put({"flow": flow, "operands": request})
        expected = units.setdefault(flow, calculator.unit())(request)
        response = (await sink.receive(max_clocks))["payload"]
        assert response == expected, f"flow {flow}: {request:#x} gives {response:#x}, not {expected:#x}"
