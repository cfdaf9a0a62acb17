# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which segments are timed, as the timeout tells: RFC 6298 2.2, RTO = R + 4 R / 2 after the first sample."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import FLOW, GENERATION, MODULE, SECOND, Endpoint

DEADLINE_STEP = 2**16  # ns
ROUND_TRIP = 2 * SECOND


def test_round_trip() -> None:
    run_module(MODULE, __name__)


async def exchange(endpoint: Endpoint, *, stamped: bool, after: int) -> None:
    """A byte goes out and is acknowledged so much later."""
    endpoint.application("written", 1)
    await endpoint.replies()
    if stamped:
        end = {"reference_flow": FLOW, "reference_generation": GENERATION, "end_value": endpoint.ack + 1}
        endpoint._put("departed", **end, stamp_ns=endpoint.now)
        await endpoint.settle()
    await endpoint.advance(after)
    endpoint.ack += 1
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
