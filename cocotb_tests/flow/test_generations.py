# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The generations of a flow: each connection on it has another, until the eight bits wrap."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.flow.directory import LISTENING, listening, segment
from cocotb_tests.flow.model import FLOWS

GENERATIONS = 256


def test_generations() -> None:
    run_module("FlowDirectoryFewTimeWaits", __name__)


@cocotb.test()
async def a_flow_has_another_generation_with_each_connection_and_begins_again_after_256(dut: Any) -> None:
    """All flows but one have connections, so that one is always the next."""
    bench = await listening(dut)
    await bench.connect(*((0x0A000001, 5000 + i, LISTENING[0]) for i in range(FLOWS - 1)))
    bench.made.clear()
    for number in range(GENERATIONS + 3):
        key = (0x0A000002, 10_000 + number, LISTENING[0])
        await bench.connect(key)
        flow = bench.model.table[key].number
        bench.segment(segment(bench.random, key, "ack"))  # it goes to the new connection, not to one of 256 before
        bench.release(flow)
        await bench.check()
    assert len({event["reference_flow"] for event in bench.made}) == 1
    generations = [event["reference_generation"] for event in bench.made]
    assert generations == [(1 + i) % GENERATIONS for i in range(GENERATIONS + 3)]
