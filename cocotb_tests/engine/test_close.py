# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A close finds data that nobody will read (RFC 2525 2.17, RFC 1122 4.2.2.13), data that is still to be sent."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, RECEIVE_WINDOW, SECOND, Endpoint
from cocotb_tests.engine.segment import MODULUS, MSS, Options

TIME_UNIT = 2**30  # ns


def test_close() -> None:
    run_module(MODULE, __name__)


def test_close_with_spaced_events() -> None:
    run_module("FlowEngineSpaced", __name__, label="spaced")


async def resets(endpoint: Endpoint) -> bool:
    """Closes; whether the peer gets a RST, and no FIN then."""
    endpoint.application("close")
    replies = await endpoint.replies()
    flags = "".join(reply.flags for reply in replies)
    assert ("R" in flags) != ("F" in flags), f"{flags}: a close is answered by a FIN or by a RST"
    return "R" in flags


@cocotb.test()
@cocotb.parametrize(flags=["A", "FA"])
async def data_on_its_way_to_memory_is_unread(dut: Any, flags: str) -> None:
    """It was accepted, and nobody will read it; the flow is given back when memory has answered."""
    endpoint = await Endpoint.connected(dut, auto_place=False)
    endpoint.send(flags, 10)
    await endpoint.silent()
    assert await resets(endpoint)
    released = [endpoint.released]
    assert endpoint.reason == "aborted"
    endpoint.place()
    await endpoint.silent()
    assert [*released, endpoint.released] == [0, 1]


@cocotb.test()
async def data_behind_what_was_read_is_unread(dut: Any) -> None:
    """Ten bytes are in memory and read; the next ten are still on their way."""
    endpoint = await Endpoint.connected(dut, auto_place=False)
    endpoint.send("A", 10)
    endpoint.send("A", 10)
    await endpoint.settle()
    endpoint.place()
    await endpoint.settle()
    endpoint.application("consumed", 10)
    assert await resets(endpoint)


@cocotb.test()
async def what_fills_a_hole_is_unread(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut, auto_place=False)
    endpoint.send("A", 10, seq=endpoint.seq + 10)
    await endpoint.settle()
    endpoint.place()
    await endpoint.replies()
    endpoint.send("A", 10)
    await endpoint.settle()
    assert await resets(endpoint)


@cocotb.test()
async def a_fin_on_its_way_is_no_data(dut: Any) -> None:
    """All was read: the close is orderly, and the FIN counts when its turn comes."""
    endpoint = await Endpoint.connected(dut, auto_place=False)
    endpoint.send("A", 10)
    await endpoint.settle()
    endpoint.place()
    await endpoint.settle()
    endpoint.application("consumed", 10)
    endpoint.send("FA")
    await endpoint.settle()
    assert not await resets(endpoint)
    endpoint.place()
    await endpoint.replies()
    assert endpoint.state == "closing"


@cocotb.test()
async def what_comes_again_is_no_data(dut: Any) -> None:
    """Bytes that were read are on their way a second time."""
    endpoint = await Endpoint.connected(dut, auto_place=False)
    endpoint.send("A", 10)
    endpoint.send("A", 10, seq=endpoint.seq - 10)
    await endpoint.settle()
    endpoint.place()
    await endpoint.settle()
    endpoint.application("consumed", 10)
    await endpoint.settle()
    assert endpoint.unplaced, "the second one was to be on its way"
    assert not await resets(endpoint)


@cocotb.test()
async def what_was_cut_off_at_the_window_is_no_data(dut: Any) -> None:
    """The peer fills the window and sends more; what was taken is read, and of the rest nothing was accepted."""
    endpoint = await Endpoint.connected(dut)
    for _ in range(RECEIVE_WINDOW // 1024):
        endpoint.send("A", 1024)
    await endpoint.replies()
    endpoint.send("FA", 1500)  # 1,023 of them fit
    endpoint.seq -= 1500 + 1 - 1023
    await endpoint.replies()
    assert endpoint.placements[-1].length == 1023 and not endpoint.placements[-1].fin
    endpoint.application("consumed", RECEIVE_WINDOW)
    await endpoint.acknowledged()
    endpoint.auto_place = False
    endpoint.send("A", 10, seq=endpoint.seq + 10)  # beyond a hole: it cannot be read
    await endpoint.settle()
    assert endpoint.unplaced
    assert not await resets(endpoint)


@cocotb.test()
@cocotb.parametrize(kind=["shutdown", "close"])
async def fin_rides_on_the_last_segment(dut: Any, kind: str) -> None:
    """RFC 9293 3.10.4: queued until all that was written is segmented. Data and end are events in a row."""
    endpoint = await Endpoint.connected(dut)
    length = generator().randrange(1, 3 * MSS)
    endpoint.application("written", length)
    endpoint.application(kind)
    replies = await endpoint.replies()
    assert [reply.length for reply in replies] == [MSS] * (length // MSS) + [length % MSS] * (length % MSS != 0)
    assert ["F" in reply.flags for reply in replies] == [False] * (len(replies) - 1) + [True]


@cocotb.test()
async def fin_rides_on_what_the_nagle_algorithm_held_back(dut: Any) -> None:
    """RFC 9293 3.7.4: nothing more will join it."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("written", 100)
    (first,) = await endpoint.replies()
    assert first.length == 100
    endpoint.application("written", 50)
    await endpoint.silent()
    endpoint.application("shutdown")
    (last,) = await endpoint.replies()
    assert last.length == 50 and "F" in last.flags
    endpoint.ack = (endpoint.ack + 151) % MODULUS
    endpoint.send("A")
    await endpoint.settle()
    assert endpoint.state == "finWait2"


@cocotb.test()
async def a_fin_alone_does_not_wait_for_cwnd(dut: Any) -> None:
    """The peer's window alone holds it. A window of ten segments is full."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("written", 10 * MSS)
    assert len(await endpoint.replies()) == 10
    endpoint.application("shutdown")
    (last,) = await endpoint.replies()
    assert (last.length, "F" in last.flags) == (0, True)


@cocotb.test()
async def a_fin_alone_waits_for_the_peers_window(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut, options=Options(scale=None))
    endpoint.window = 2 * MSS
    endpoint.send("A")
    endpoint.application("written", 2 * MSS)
    assert len(await endpoint.replies()) == 2
    endpoint.application("shutdown")
    await endpoint.silent()


@cocotb.test()
@cocotb.parametrize(kind=["shutdown", "close"])
async def a_silent_peer_gets_data_and_fin_again(dut: Any, kind: str) -> None:
    """RFC 9293 3.8.1: the FIN is retransmitted like data, and with it."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("written", 100)
    endpoint.application(kind)
    (first,) = await endpoint.replies()
    assert first.length == 100 and "F" in first.flags
    for _ in range(3):
        await endpoint.expire()
        (again,) = await endpoint.replies()
        assert (again.seq, again.length, "F" in again.flags) == (first.seq, 100, True)


@cocotb.test()
@cocotb.parametrize((("units", "seconds"), [(20, 20), (0, 100), (1000, 100)]))
async def a_close_bounds_the_user_timeout_and_never_lengthens_it(dut: Any, units: int, seconds: int) -> None:
    """RFC 9293 3.8.3; `closedTimeout` is 100 s. The peer is silent from the close on."""
    endpoint = await Endpoint.connected(dut, parameters={"userTimeout": units})
    await endpoint.advance(15 * SECOND)  # idleness counts for nothing
    endpoint.application("written", 100)
    endpoint.application("close")
    passed = 0
    while endpoint.state != "closed":
        passed += await endpoint.expire()
    assert endpoint.reason == "timedOut"
    assert seconds <= passed / SECOND < 1.08 * seconds + 3


@cocotb.test()
@cocotb.parametrize((("before", "after"), [(0, 20), (60, 20), (10, 30)]))
async def another_user_timeout_counts_from_its_command(dut: Any, before: int, after: int) -> None:
    """RFC 9293 3.9.1.2: a SEND may change the timeout of the connection."""
    endpoint = await Endpoint.connected(dut, parameters={"userTimeout": before})
    endpoint.application("written", 100)
    await endpoint.replies()
    await endpoint.advance(5 * TIME_UNIT)
    endpoint.set_times(user_timeout=after)
    await endpoint.settle()
    begun = endpoint.now
    while endpoint.state != "closed":
        await endpoint.expire()
    assert endpoint.reason == "timedOut"
    assert after <= (endpoint.now - begun) / TIME_UNIT <= after + 1
