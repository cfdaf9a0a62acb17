# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The urgent mechanism (RFC 9293 3.8.5): what the application hears, and what segments say of its own urgent data."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint
from cocotb_tests.engine.segment import MODULUS, Segment

LOW = 2**18  # values of a descriptor's `urgentEnd`: sequence numbers of a buffer of 64 KiB


def test_urgency() -> None:
    run_module(MODULE, __name__)


def _reported(endpoint: Endpoint) -> int | None:
    """Bytes that are urgent and unread, as the last status says; None: none."""
    status = endpoint.status
    if not status["urgent"]:
        return None
    return (status["urgentEnd_value"] - status["consumed_value"]) % MODULUS


def _pointer(segment: Segment) -> int:
    """The urgent pointer that the builder will make of a descriptor; 0: no URG."""
    if not segment.fields["urgent"]:
        return 0
    distance = (segment.fields["urgentEnd"] - segment.seq) % LOW
    return distance if distance < LOW // 2 else 0


@cocotb.test()
@cocotb.parametrize(first=[77_000, 2**32 - 120, 2**31 - 50])
async def the_application_hears_of_urgent_data_and_of_each_advance(dut: Any, first: int) -> None:
    """MUST-32, MUST-33."""
    endpoint = await Endpoint.connected(dut, first=first)
    begin = endpoint.seq
    endpoint.send("AU", 100, urgentPointer=50)
    await endpoint.settle()
    assert _reported(endpoint) == 50
    endpoint.send("AU", 100, urgentPointer=65535)  # far beyond what has come
    await endpoint.acknowledged()
    assert _reported(endpoint) == 100 + 65535
    endpoint.application("consumed", 200)
    endpoint.send("A", 10)
    await endpoint.settle()
    assert _reported(endpoint) == 65535 - 100
    endpoint.status.clear()
    for pointer in (0, 100, 65535 - 110):  # an end that is known already, or goes back, is none
        endpoint.send("AU", urgentPointer=pointer)
    await endpoint.silent()
    assert not endpoint.status
    assert endpoint.seq == (begin + 210) % MODULUS


@cocotb.test()
async def what_has_been_read_is_urgent_no_more(dut: Any) -> None:
    """3.10.7.4, sixth: only what is in advance of the data consumed is reported."""
    endpoint = await Endpoint.connected(dut)
    endpoint.send("AU", 100, urgentPointer=100)
    await endpoint.settle()
    endpoint.application("consumed", 99)
    endpoint.send("A", 10)
    await endpoint.acknowledged()
    assert _reported(endpoint) == 1
    endpoint.application("consumed", 1)
    endpoint.send("A", 10)
    await endpoint.settle()
    assert _reported(endpoint) is None
    endpoint.application("consumed", 20)
    await endpoint.settle()
    endpoint.status.clear()
    endpoint.send("AU", urgentPointer=0)
    await endpoint.settle()
    assert not endpoint.status
    endpoint.send("AU", urgentPointer=1)
    await endpoint.settle()
    assert _reported(endpoint) == 1


@cocotb.test()
async def a_mark_that_was_read_hides_no_later_one(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    endpoint.send("AU", 10, urgentPointer=10)
    endpoint.send("AU", 10, urgentPointer=10)
    await endpoint.acknowledged()
    endpoint.application("consumed", 20)
    await endpoint.settle()
    for _ in range(40):
        endpoint.send("A", 1000)
    await endpoint.replies()
    endpoint.application("consumed", 40 * 1000)
    endpoint.send("AU", 10, urgentPointer=7)
    await endpoint.settle()
    assert _reported(endpoint) == 7


@cocotb.test()
async def urgent_counts_while_our_window_is_shut(dut: Any) -> None:
    """MUST-66: of a segment of which nothing else is taken, and of one without data."""
    endpoint = await Endpoint.connected(dut)
    for _ in range(64):
        endpoint.send("A", 1024)
    replies = await endpoint.replies()
    assert endpoint.space(replies[-1]) == 0
    endpoint.send("AU", 500, urgentPointer=500, seq=endpoint.seq)
    await endpoint.settle()
    assert _reported(endpoint) == 65536 + 500
    endpoint.send("AU", urgentPointer=2000)
    await endpoint.settle()
    assert _reported(endpoint) == 65536 + 2000


@cocotb.test()
async def behind_a_fin_and_in_a_segment_that_is_no_good_it_is_ignored(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    endpoint.send("AU", 10, seq=endpoint.seq + 200_000, urgentPointer=10)  # outside the window
    endpoint.send(
        "AU", 10, seq=endpoint.seq, ack=endpoint.ack + 1000, urgentPointer=10
    )  # an ACK of what was never sent
    endpoint.send("U", 10, seq=endpoint.seq, urgentPointer=10)  # no ACK
    await endpoint.settle()
    assert _reported(endpoint) is None
    endpoint.send("AF")
    await endpoint.replies()
    endpoint.send("AU", urgentPointer=10)
    await endpoint.settle()
    assert endpoint.state == "closeWait" and _reported(endpoint) is None


@cocotb.test()
async def each_segment_before_the_end_of_urgent_data_points_there(dut: Any) -> None:
    """MUST-62, also when it is sent again, and in an ACK that goes meanwhile."""
    endpoint = await Endpoint.connected(dut, parameters={"noDelay": 1})
    begin = endpoint.ack
    endpoint.application("written", 100)
    assert [_pointer(segment) for segment in await endpoint.replies()] == [0]
    endpoint.application("written", 3000, urgent=True)
    endpoint.application("written", 2000)
    sent = await endpoint.replies()
    end = begin + 3100
    assert [_pointer(segment) for segment in sent] == [max(end - segment.seq, 0) for segment in sent]
    assert len(sent) >= 2 and _pointer(sent[0]) == 3000 and _pointer(sent[-1]) == 0
    await endpoint.expire()
    again = (await endpoint.replies())[0]
    assert (again.seq, _pointer(again)) == (begin, 3100)
    endpoint.ack = end
    endpoint.send("A")
    endpoint.application("written", 10)
    assert not any(_pointer(segment) for segment in await endpoint.replies())


@cocotb.test()
async def urgent_data_of_any_length_moves_its_end(dut: Any) -> None:
    """MUST-31: written in pieces, each of which is the end for now; the peer's window is shut, so ACKs say it."""
    endpoint = await Endpoint.create(dut)
    endpoint.window = 0
    await endpoint.accept()
    for piece in range(1, 11):
        endpoint.application("written", 6000, urgent=True)
        endpoint.send("A", 10)
        endpoint.send("A", 10)
        assert _pointer(await endpoint.acknowledged()) == 6000 * piece
    endpoint.application("abort")
    reset = (await endpoint.replies())[0]
    assert "R" in reset.flags and _pointer(reset) == 0


@cocotb.test()
async def a_new_connection_knows_nothing_of_the_last_ones_urgent_data(dut: Any) -> None:
    endpoint = await Endpoint.connected(dut)
    endpoint.application("written", 100, urgent=True)
    endpoint.send("AU", 100, urgentPointer=100)
    await endpoint.replies()
    endpoint.application("abort")
    await endpoint.replies()
    assert endpoint.released == 1
    endpoint.seq = endpoint.first + 1
    await endpoint.accept()
    endpoint.application("written", 10)
    assert [_pointer(segment) for segment in await endpoint.replies()] == [0]
    endpoint.send("A", 10)
    await endpoint.settle()
    assert _reported(endpoint) is None
