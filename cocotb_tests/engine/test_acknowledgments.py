# SPDX-License-Identifier: BSD-2-Clause-Patent
"""When data is acknowledged, and how far the window opens (RFC 9293 3.8.6.2.2 and 3.8.6.3, RFC 5681 4.2)."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MILLISECOND, MODULE, RECEIVE_BUFFER, RECEIVE_WINDOW, Endpoint
from cocotb_tests.engine.segment import MODULUS, MSS, Options, offset


def test_acknowledgments() -> None:
    run_module(MODULE, __name__)


@cocotb.test()
async def a_lone_segment_is_acknowledged_by_the_timer(dut: Any) -> None:
    """RFC 9293 3.8.6.3: the delay is less than 0.5 s; ours is 40 ms."""
    endpoint = await Endpoint.connected(dut)
    endpoint.send("PA", 100)
    await endpoint.silent()
    assert await endpoint.expire() == pytest.approx(40 * MILLISECOND, abs=MILLISECOND)
    assert (await endpoint.acknowledged()).ack == endpoint.seq
    assert endpoint.deadline is None


@cocotb.test()
@cocotb.parametrize(length=[MSS, 536, 1])
async def every_second_segment_is_acknowledged_at_once(dut: Any, length: int) -> None:
    """RFC 5681 4.2, also for a peer whose full segments are smaller than ours."""
    endpoint = await Endpoint.connected(dut)
    for _ in range(5):
        endpoint.send("A", length)
        await endpoint.silent()
        endpoint.send("A", length)
        assert (await endpoint.acknowledged()).ack == endpoint.seq
        assert endpoint.deadline is None


@cocotb.test()
async def out_of_order_data_is_acknowledged_at_once(dut: Any) -> None:
    """RFC 5681 4.2."""
    endpoint = await Endpoint.connected(dut)
    origin = endpoint.seq
    for left in (1000, 3000, 2000):
        endpoint.send("A", 500, seq=origin + left)
        assert (await endpoint.acknowledged()).ack == origin


@cocotb.test()
async def data_that_fills_a_hole_is_acknowledged_at_once(dut: Any) -> None:
    """RFC 5681 4.2: all or a part of a gap."""
    endpoint = await Endpoint.connected(dut)
    origin = endpoint.seq
    endpoint.send("A", 500, seq=origin + 1000)
    await endpoint.acknowledged()
    endpoint.send("A", 500, seq=origin)
    assert offset((await endpoint.acknowledged()).ack, origin) == 500
    endpoint.send("A", 500, seq=origin + 500)
    assert offset((await endpoint.acknowledged()).ack, origin) == 1500
    endpoint.send("A", 500, seq=origin + 1500)
    await endpoint.silent()


@cocotb.test()
async def old_data_is_acknowledged_at_once(dut: Any) -> None:
    """RFC 9293 3.10.7.4: an unacceptable segment is answered."""
    endpoint = await Endpoint.connected(dut)
    for _ in range(2):
        endpoint.send("A", 100)
    await endpoint.acknowledged()
    for back in (200, 100):
        endpoint.send("A", 100, seq=endpoint.seq - back)
        assert (await endpoint.acknowledged()).ack == endpoint.seq


@cocotb.test()
async def a_fin_is_acknowledged_at_once(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    endpoint.send("FA", 100)
    assert (await endpoint.acknowledged()).ack == endpoint.seq


@cocotb.test()
async def nothing_is_acknowledged_before_it_is_in_memory(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut, auto_place=False)
    origin = endpoint.seq
    for _ in range(3):
        endpoint.send("A", 100)
    await endpoint.silent()
    assert endpoint.deadline is None
    endpoint.place()
    await endpoint.silent()
    endpoint.place()
    assert offset((await endpoint.acknowledged()).ack, origin) == 200


@cocotb.test()
async def our_data_carries_the_acknowledgment(dut: Any) -> None:
    """A segment that is sent while an ACK waits takes it along, and nothing more follows."""
    endpoint = await Endpoint.connected(dut)
    endpoint.send("PA", 100)
    await endpoint.silent()
    endpoint.application("written", 50)
    (segment,) = await endpoint.replies()
    assert (segment.length, segment.ack) == (50, endpoint.seq)
    endpoint.ack += 50
    endpoint.send("A")
    await endpoint.silent()
    assert endpoint.deadline is None, "an ACK still waits"
    endpoint.send("PA", 100)
    await endpoint.silent()  # the first of two again


@cocotb.test()
async def a_grant_that_sends_nothing_reports_nothing(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    endpoint.send("PA", 100)
    await endpoint.silent()
    endpoint.grant()
    await endpoint.silent()
    await endpoint.expire()
    assert (await endpoint.acknowledged()).ack == endpoint.seq


@cocotb.test()
@cocotb.parametrize(scale=[7, None])
async def the_windows_right_edge_never_moves_left(dut: Any, scale: int | None) -> None:
    """RFC 9293 3.8.6: a reader that takes what it likes when it likes; RFC 7323 2.4 allows for less than a unit of the
    scale."""
    endpoint = await Endpoint.connected(dut, options=Options(scale=scale))
    draw = generator()
    origin = endpoint.seq
    unit = 2 if scale is not None else 1
    consumed = 0
    edge = RECEIVE_BUFFER - 1
    held: list[int] = []
    for _ in range(250):
        space = edge - offset(endpoint.seq, origin)
        if draw.random() < 0.6 and space > 0:
            endpoint.send("A", min(draw.choice([1, 99, 536, MSS]), space))
        await endpoint.settle()
        received = offset(endpoint.status["received_value"], origin) if endpoint.placements else 0
        if draw.random() < 0.3 and received > consumed:
            part = draw.randint(1, received - consumed)
            endpoint.application("consumed", part)
            consumed += part
        if draw.random() < 0.2 and endpoint.deadline is not None:
            await endpoint.expire()
        for reply in await endpoint.replies():
            announced = offset(reply.ack, origin) + endpoint.space(reply)
            assert announced > edge - unit, f"the edge went from {edge} to {announced}"
            assert announced <= consumed + RECEIVE_BUFFER, "more is announced than there is space for"
            held.append(announced - edge)
            edge = max(edge, announced)
    assert sum(moved >= unit for moved in held) > 20


@cocotb.test()
async def the_edge_moves_by_a_segment_at_least(dut: Any) -> None:
    """RFC 9293 3.8.6.2.2: min(half the buffer, a segment), else it stays; a window that shut opens with an update."""
    endpoint = await Endpoint.connected(dut)
    origin = endpoint.seq
    while offset(endpoint.seq, origin) < RECEIVE_WINDOW:
        endpoint.send("A", min(MSS, RECEIVE_WINDOW - offset(endpoint.seq, origin)))
        await endpoint.settle()
    last = (await endpoint.replies())[-1]
    if endpoint.deadline is not None:
        await endpoint.expire()
        last = (await endpoint.replies())[-1]
    assert last.window == 0 and offset(last.ack, origin) == RECEIVE_WINDOW
    endpoint.application("consumed", MSS - 1 - (RECEIVE_BUFFER - RECEIVE_WINDOW))
    await endpoint.silent()
    endpoint.send("A", 1, seq=endpoint.seq)  # a probe
    assert (await endpoint.acknowledged()).window == 0
    endpoint.application("consumed", 1)
    await endpoint.silent()
    endpoint.send("A", 1, seq=endpoint.seq)
    opened = await endpoint.acknowledged()
    assert MSS - 2 < endpoint.space(opened) <= MSS
    endpoint.application("consumed", 2 * MSS - 1)
    await endpoint.silent()
    endpoint.application("consumed", MSS)
    assert endpoint.space(await endpoint.acknowledged()) >= 4 * MSS - 2


@cocotb.test()
@cocotb.parametrize(narrower=[0, 1])
async def a_window_of_half_the_buffer_needs_no_update_a_narrower_one_does(dut: Any, narrower: int) -> None:
    endpoint = await Endpoint.connected(dut)
    left = RECEIVE_WINDOW - RECEIVE_BUFFER // 2 + narrower
    while left:
        endpoint.send("A", min(MSS, left))
        await endpoint.settle()
        left -= min(MSS, left)
    if endpoint.deadline is not None:
        await endpoint.expire()
    # A window scale of 1.
    assert endpoint.space((await endpoint.replies())[-1]) == RECEIVE_BUFFER // 2 - 2 * narrower
    endpoint.application("consumed", 2 * MSS)
    if narrower:
        assert endpoint.space(await endpoint.acknowledged()) >= RECEIVE_BUFFER // 2
    else:
        await endpoint.silent()


@cocotb.test()
async def a_wide_window_needs_no_updates(dut: Any) -> None:
    """A reader that keeps up sends no ACK for each read."""
    endpoint = await Endpoint.connected(dut)
    for _ in range(20):
        endpoint.send("A", MSS)
        endpoint.send("A", MSS)
        await endpoint.acknowledged()
        endpoint.application("consumed", 2 * MSS)
        await endpoint.silent()


@cocotb.test()
async def a_delayed_acknowledgment_is_not_lost_when_fin_wait_2_begins(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    endpoint.application("shutdown")
    (fin,) = await endpoint.replies()
    assert "F" in fin.flags
    endpoint.send("A", 10)
    await endpoint.silent()
    endpoint.ack = (endpoint.ack + 1) % MODULUS
    endpoint.send("A")
    await endpoint.settle()
    assert endpoint.state == "finWait2"
    endpoint.application("consumed", 10)
    endpoint.application("close")
    assert (await endpoint.replies())[-1].ack == endpoint.seq


@cocotb.test()
async def a_refused_write_ends_the_connection_and_moves_nothing(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut, auto_place=False)
    endpoint.send("A", 100)
    await endpoint.settle()
    before = endpoint.seq - 100
    endpoint.place(error=True)
    (reset,) = await endpoint.replies()
    assert "R" in reset.flags and reset.ack == before
    assert endpoint.reason == "memoryError"
