# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Long calculations: one of a connection under way, the answer as an event, and what a loss leaves of it.

The module's steady policy asks with each ACK for a window one segment larger, of a unit that takes 40 clocks for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench.layout import layout
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import FLOW, GENERATION, SECOND, Endpoint
from cocotb_tests.engine.segment import Options

SMSS = 1000
UNIT_CLOCKS = 40


def test_calculations() -> None:
    run_module("FlowEngineCalculating", __name__)


@dataclass(frozen=True)
class Seen:
    """One event of the connection, as the trace has it."""

    clock: int
    kind: str
    congestion: str
    cwnd: int  # bytes
    requested: bool


class Record:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.events: list[Seen] = []
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        dut, clock = self.dut, 0
        enums = layout()["enums"]
        kinds = {number: name for name, number in enums["EventKind"].items()}
        meanings = {number: name for name, number in enums["CongestionEventKind"].items()}
        while True:
            await RisingEdge(dut.clk)
            clock += 1
            if dut.trace_valid.value == 1 and int(dut.trace_payload_reference_flow.value) == FLOW:
                self.events.append(
                    Seen(
                        clock,
                        kinds[int(dut.trace_payload_kind.value)],
                        meanings[int(dut.trace_payload_congestion_kind.value)],
                        int(dut.trace_payload_window_cwnd.value) >> 16,
                        dut.trace_payload_requested.value == 1,
                    )
                )

    def results(self) -> list[Seen]:
        return [event for event in self.events if event.kind == "calculated"]

    def requests(self) -> list[Seen]:
        return [event for event in self.events if event.requested]


async def sending(dut: Any, segments: int) -> tuple[Endpoint, Record]:
    """A connection at cwnd = ssthresh = 10 segments that has sent as many as it may of `segments`."""
    endpoint = await Endpoint.create(
        dut, options=Options(mss=SMSS), parameters={"initialWindow": 10, "ssthresh": 10 * SMSS, "noDelay": 1}
    )
    await endpoint.accept()
    record = Record(dut)
    endpoint.application("written", segments * SMSS)
    assert len(await endpoint.replies()) == min(segments, 10)
    return endpoint, record


def acknowledge(endpoint: Endpoint, segments: int) -> None:
    endpoint.ack += segments * SMSS
    endpoint.send("A")


@cocotb.test()
async def a_result_is_an_event_that_sets_the_window(dut: Any) -> None:
    endpoint, record = await sending(dut, 10)
    acknowledge(endpoint, 1)
    await endpoint.settle()
    (request,), (result,) = record.requests(), record.results()
    assert (request.congestion, request.cwnd) == ("acknowledged", 10 * SMSS)
    assert (result.congestion, result.cwnd) == ("calculated", 11 * SMSS)
    assert UNIT_CLOCKS <= result.clock - request.clock < UNIT_CLOCKS + 60


@cocotb.test()
async def one_calculation_of_a_connection_is_under_way_at_most(dut: Any) -> None:
    """Ten ACKs as fast as the engine takes them: it asks again with the first one after the answer."""
    endpoint, record = await sending(dut, 10)
    for _ in range(10):
        acknowledge(endpoint, 1)
    await endpoint.settle()
    turns = [event for event in record.events if event.requested or event.kind == "calculated"]
    assert [event.requested for event in turns] == [True, False] * (len(turns) // 2)
    assert len(turns) < 10 and record.events[-1].cwnd == (10 + len(record.results())) * SMSS
    assert not any(event.requested for event in record.results())


@cocotb.test()
async def a_loss_makes_the_result_stale(dut: Any) -> None:
    """The timeout comes while the unit works: the answer's window, of before the timeout, is not taken."""
    endpoint, record = await sending(dut, 10)
    await endpoint.settle()
    acknowledge(endpoint, 1)
    while not record.requests():
        await RisingEdge(dut.clk)
    await endpoint.advance(10 * SECOND)
    endpoint._put("timers", reference_flow=FLOW, reference_generation=GENERATION)
    await endpoint.settle()
    kinds = [event.congestion for event in record.events if event.congestion != "none" and event.congestion != "sent"]
    assert kinds[-2:] == ["timeout", "calculated"], kinds
    assert [event.cwnd for event in record.events if event.congestion in ("timeout", "calculated")][-2:] == [SMSS, SMSS]
