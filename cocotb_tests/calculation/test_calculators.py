# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The queues around a unit for long calculations: every request that found space is answered, in order, to whom it
belongs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import StreamSink, StreamSource, generator, start, until
from cocotb_tests.bench.runner import run_module

LATE = 5  # clocks from the word that there is space to the last request that may come of it


def test_calculators() -> None:
    run_module("CalculatorsOfBench", __name__)


@dataclass(frozen=True)
class Request:
    flow: int
    generation: int
    of_startup: int
    window: int
    segment: int
    note: int

    def request(self) -> dict[str, int]:
        return {
            "reference_flow": self.flow,
            "reference_generation": self.generation,
            "ofStartup": self.of_startup,
            "calculator": 0,
            "operands": self.segment << 48 | self.window,
            "note": self.note,
        }

    def response(self) -> dict[str, int]:
        """The unit of the bench adds a segment to a window."""
        return {
            "reference_flow": self.flow,
            "reference_generation": self.generation,
            "calculated_ofStartup": self.of_startup,
            "calculated_stale": 0,
            "calculated_response": (self.window + (self.segment << 16)) % 2**48,
            "calculated_note": self.note,
        }


@cocotb.test()
async def all_requests_that_find_space_are_answered_in_order(dut: Any) -> None:
    """Requests come as fast as there is space, as seen some clocks late; responses are taken slowly."""
    source, sink, draw = StreamSource(dut, "request"), StreamSink(dut, "result", stall=0.9), generator()
    await start(dut)
    requests: list[Request] = []
    seen = [False] * LATE
    refused = 0
    for _ in range(6_000):
        await RisingEdge(dut.clk)
        seen = [*seen[1:], dut.space.value == 1]
        if seen[0]:
            request = Request(
                draw.randrange(16), draw.randrange(256), draw.randrange(2), *map(draw.getrandbits, (48, 16, 48))
            )
            requests.append(request)
            source.put(request.request())
        else:
            refused += 1
    assert refused > 4_000 and len(requests) > 100, "the unit was to be too slow for its askers"
    assert dut.idle.value == 0
    for request in requests:
        assert await sink.receive(100) == request.response()
    await until(dut, lambda: dut.idle.value == 1, "the units to rest", clocks=20)
