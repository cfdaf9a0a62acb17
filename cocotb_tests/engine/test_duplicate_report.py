# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Data that came twice is reported in the first SACK block: RFC 2883 4."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint
from cocotb_tests.engine.segment import MODULUS, Options, Segment, offset

LENGTH = 1000  # bytes


def test_duplicate_report() -> None:
    run_module(MODULE, __name__)


async def connected(dut: Any, **fields: Any) -> Endpoint:
    return await Endpoint.connected(dut, options=Options(sack=True), **fields)


async def come(endpoint: Endpoint, start: int, first: int, length: int = LENGTH) -> Segment:
    """A segment that begins so many bytes behind `start`; the last ACK."""
    endpoint.send("A", length, seq=(start + first) % MODULUS)
    replies = await endpoint.replies()
    assert replies and set(replies[-1].flags) == {"A"}
    return replies[-1]


def offsets(reply: Segment, start: int) -> list[tuple[int, int]]:
    """Blocks behind `start`."""
    return [(offset(left, start), offset(right, start)) for left, right in reply.sack]


@cocotb.test()
@cocotb.parametrize(first=[0, LENGTH, LENGTH // 2])
async def a_segment_below_rcv_nxt_is_reported(dut: Any, first: int) -> None:
    """4.1.1 (example 1): its ACK was lost."""
    endpoint = await connected(dut, first=2**32 - 1500)
    start = endpoint.seq
    for number in range(2):
        endpoint.send("A", LENGTH, seq=(start + number * LENGTH) % MODULUS)
    await endpoint.replies()
    reply = await come(endpoint, start, first)
    assert reply.ack == (start + 2 * LENGTH) % MODULUS
    assert offsets(reply, start) == [(first, first + LENGTH)]


@cocotb.test()
async def a_segment_inside_a_range_is_reported_before_the_range(dut: Any) -> None:
    """4.2: the second block names the range that holds it."""
    endpoint = await connected(dut)
    start = endpoint.seq
    await come(endpoint, start, 2 * LENGTH)
    await come(endpoint, start, 3 * LENGTH)
    reply = await come(endpoint, start, 5 * LENGTH)
    assert offsets(reply, start) == [(5 * LENGTH, 6 * LENGTH), (2 * LENGTH, 4 * LENGTH)], "nothing came twice"
    reply = await come(endpoint, start, 3 * LENGTH)
    held = [(2 * LENGTH, 4 * LENGTH), (5 * LENGTH, 6 * LENGTH)]
    assert offsets(reply, start) == [(3 * LENGTH, 4 * LENGTH), *held]
    assert not reply.fields["duplicateBelow"]
    again = await come(endpoint, start, 7 * LENGTH)
    assert offsets(again, start) == [(7 * LENGTH, 8 * LENGTH), *held], "once"


@cocotb.test()
async def a_duplicate_below_stands_before_what_is_held(dut: Any) -> None:
    """4.1.2: the range follows."""
    endpoint = await connected(dut)
    start = endpoint.seq
    endpoint.send("A", LENGTH, seq=start)
    await come(endpoint, start, 2 * LENGTH)
    reply = await come(endpoint, start, 0)
    assert offsets(reply, start) == [(0, LENGTH), (2 * LENGTH, 3 * LENGTH)]


@cocotb.test()
@cocotb.parametrize(case=["without SACK", "partly new", "empty", "far"])
async def nothing_else_is_reported(dut: Any, case: str) -> None:
    """A segment that brings something new, one without data, one that is older than a buffer."""
    endpoint = await connected(dut) if case != "without SACK" else await Endpoint.connected(dut)
    start = endpoint.seq
    endpoint.send("A", LENGTH, seq=start)
    await endpoint.replies()
    first, length = {"partly new": (LENGTH // 2, LENGTH), "empty": (-1, 0), "far": (-(1 << 18), LENGTH)}.get(
        case, (0, LENGTH)
    )
    endpoint.send("A", length, seq=(start + first) % MODULUS)
    for reply in await endpoint.replies():
        assert reply.sack == []
