# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which segments are timed, as the timeout tells: RFC 6298 2.2, RTO = R + 4 R / 2 after the first sample."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import FLOW, GENERATION, MODULE, SECOND, Endpoint
from cocotb_tests.engine.segment import MSS

DEADLINE_STEP = 2**16  # ns
ROUND_TRIP = 2 * SECOND
MILLISECOND = 10**6  # ns


def test_round_trip() -> None:
    run_module(MODULE, __name__)


async def exchange(endpoint: Endpoint, *, stamped: bool, after: int, length: int = 1) -> None:
    """A segment of so many bytes goes out and is acknowledged so much later, ns."""
    endpoint.application("written", length)
    await endpoint.replies()
    if stamped:
        end = {"reference_flow": FLOW, "reference_generation": GENERATION, "end_value": endpoint.ack + length}
        endpoint._put("departed", **end, stamp_ns=endpoint.now)
        await endpoint.settle()
    await endpoint.advance(after)
    endpoint.ack += length
    endpoint.send("A")
    await endpoint.silent()


async def timeout(endpoint: Endpoint) -> int:
    """Retransmission timeout of the next byte, ns."""
    endpoint.application("written", 1)
    await endpoint.replies()
    assert endpoint.deadline is not None
    return endpoint.deadline - endpoint.now


@cocotb.test()
async def a_segment_is_timed_from_its_departure(dut: Any) -> None:
    """Also when the handshake's departure had no stamp."""
    endpoint = await Endpoint.connected(dut)
    await exchange(endpoint, stamped=True, after=ROUND_TRIP)
    assert 0 <= await timeout(endpoint) - 3 * ROUND_TRIP < DEADLINE_STEP


@cocotb.test()
async def a_dropped_stamp_costs_the_sample_of_its_own_segment_alone(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    await exchange(endpoint, stamped=False, after=SECOND // 2)
    assert 0 <= await timeout(endpoint) - SECOND < DEADLINE_STEP
    await endpoint.advance(SECOND // 2)
    endpoint.ack += 1
    endpoint.send("A")
    await endpoint.silent()
    await exchange(endpoint, stamped=True, after=ROUND_TRIP)
    assert 0 <= await timeout(endpoint) - 3 * ROUND_TRIP < DEADLINE_STEP


async def watch(dut: Any, smallest: list[int]) -> None:
    """RTTmin after each sample, ns."""
    while True:
        await RisingEdge(dut.clk)
        if dut.trace_valid.value == 1 and dut.trace_payload_congestion_rttValid.value == 1:
            smallest.append(int(dut.trace_payload_congestion_rttMinimum.value))


@cocotb.test()
async def the_smallest_round_trip_is_that_of_full_segments_as_soon_as_one_has_a_sample(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    smallest: list[int] = []
    cocotb.start_soon(watch(dut, smallest))
    for length, after in [(1, 30), (1, 20), (MSS, 50), (1, 10), (MSS, 60), (MSS, 40)]:
        await exchange(endpoint, stamped=True, after=after * MILLISECOND, length=length)
    assert [round(ns / MILLISECOND) for ns in smallest] == [30, 20, 50, 50, 50, 40]


@cocotb.test()
async def a_hosts_round_trip_makes_the_timeout_of_the_syn(dut: Any) -> None:
    """SRTT + 4 RTTVAR = 3 R, and never less than the minimum; without it 1 s (RFC 6298 2.1)."""
    for round_trip, expected in [(0, SECOND), (MILLISECOND, SECOND), (ROUND_TRIP, 3 * ROUND_TRIP)]:
        endpoint = await Endpoint.create(dut, parameters={"start_roundTrip": round_trip})
        await endpoint.open()
        assert endpoint.deadline is not None
        assert 0 <= endpoint.deadline - endpoint.now - expected < DEADLINE_STEP, round_trip
