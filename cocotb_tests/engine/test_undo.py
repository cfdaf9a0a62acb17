# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reductions that were spurious are taken back: RFC 3522, RFC 4015, RFC 3708."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.layout import policy
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint
from cocotb_tests.engine.segment import MODULUS, Options
from cocotb_tests.engine.sender import ROUND_TRIP, Sender


def test_undo() -> None:
    run_module(MODULE, __name__)


async def lose(sender: Sender) -> int:
    """Segment 0 of ten is taken for lost and sent again; cwnd before, bytes."""
    segments = await sender.write(10)
    assert segments == list(range(10))
    sender.kinds()
    before, _ = sender.windows()
    await sender.endpoint.advance(ROUND_TRIP)
    assert await sender.hear(0, (1, 4)) == [0]
    assert sender.kinds() == ["loss"]
    assert sender.windows()[0] < before
    return before


async def timestamped(dut: Any, **parameters: Any) -> Sender:
    """A peer that echoes the TSval of what has left last."""
    sender = await Sender.create(dut, timestamps=True, recovery_noTailLossProbe=1, **parameters)
    sender.endpoint.application("written", sender.mss)
    (segment,) = await sender.endpoint.replies()
    sender.echo = segment.value
    await sender.hear(1)
    sender.proceed(1)
    return sender


@cocotb.test()
async def an_ack_that_echoes_the_first_copy_gives_the_window_back(dut: Any) -> None:
    """RFC 3522 3.2 (4): the echo is older than the retransmission."""
    sender = await timestamped(dut)
    before = await lose(sender)
    undone = int(dut.undoneReductions.value)
    await sender.hear(10)
    assert sender.kinds() == ["undone"]
    assert sender.windows()[0] >= before
    assert int(dut.undoneReductions.value) == undone + 1


@cocotb.test()
async def an_ack_that_echoes_the_second_copy_does_not(dut: Any) -> None:
    sender = await timestamped(dut)
    before = await lose(sender)
    assert sender.echo is not None
    sender.echo += 2 * ROUND_TRIP // 2**20
    await sender.endpoint.advance(ROUND_TRIP)
    await sender.hear(10)
    assert sender.kinds() == ["recovered"]
    assert sender.windows()[0] < before


@cocotb.test()
async def a_spurious_timeout_sends_nothing_more_again(dut: Any) -> None:
    """RFC 4015 3.2: SND.NXT is SND.MAX again, cwnd and ssthresh are what they were."""
    sender = await timestamped(dut)
    await sender.write(10)
    sender.kinds()
    before = sender.windows()
    assert (await sender.expire())[1] == [0]
    assert sender.kinds() == ["timeout"]
    assert await sender.hear(2) == []
    assert sender.kinds() == ["undone"]
    assert sender.windows() == before
    assert await sender.write(1) == [10]


@cocotb.test()
async def a_timeout_that_was_none_goes_on(dut: Any) -> None:
    """The ACK echoes the retransmission: what was sent before it is sent again."""
    sender = await timestamped(dut)
    await sender.write(10)
    await sender.expire()
    assert sender.echo is not None
    sender.echo += 2 * 10**9 // 2**20
    assert await sender.hear(1) == [1, 2]


@cocotb.test()
@cocotb.parametrize(retransmissions=[1, 2])
async def what_came_twice_gives_the_window_back(dut: Any, retransmissions: int) -> None:
    """RFC 3708 3: D-SACKs for all that was sent again; one of two is not enough."""
    sender = await Sender.create(dut, recovery_noPrr=1)
    before = await lose(sender)
    if retransmissions == 2:
        assert await sender.hear(0, (5, 6), (1, 4)) == [4]
    await sender.hear(10)
    sender.kinds()
    await sender.hear(10, duplicate=True)
    if retransmissions == 2:
        assert sender.kinds() == []
        await sender.hear(10, duplicate=True)
    assert sender.kinds() == ["undone"]
    assert sender.windows()[0] >= before


@cocotb.test()
async def switched_off_nothing_is_taken_back(dut: Any) -> None:
    """A reduction for a loss alone can be undone; one after it settles the matter."""
    sender = await Sender.create(dut, recovery_noUndo=1)
    await lose(sender)
    await sender.hear(10)
    await sender.hear(10, duplicate=True)
    assert "undone" not in sender.kinds()


@cocotb.test()
@cocotb.parametrize(opens=["peer", "core"])
async def a_handshake_that_timed_out_has_no_window_to_give_back(dut: Any, opens: str) -> None:
    """RFC 5681 3.1: its window stays one segment, whatever comes twice afterwards (RFC 2883)."""
    endpoint = await Endpoint.create(dut, options=Options(sack=True))
    sender = Sender(endpoint)
    first = await (endpoint.arrive() if opens == "peer" else endpoint.open())
    await endpoint.expire()
    (again,) = await endpoint.replies()
    assert again.seq == first.seq, "the segment of the handshake goes again"
    endpoint.ack = sender.first = (first.seq + 1) % MODULUS
    if opens == "peer":
        endpoint.send("A")
    else:
        endpoint.send("SA", seq=endpoint.first)
    await endpoint.replies()
    assert "established" in sender.kinds()
    before = sender.windows()
    assert before[0] == sender.mss
    assert await sender.write(3) == [0]
    await sender.hear(0, duplicate=True)
    assert sender.kinds() == []
    assert sender.windows() == before


@cocotb.test()
async def an_old_segment_takes_nothing_back(dut: Any) -> None:
    """RFC 9293 3.10.7.4: of a segment outside the window nothing counts, its D-SACK neither."""
    sender = await Sender.create(dut)
    await lose(sender)
    await sender.hear(10)
    sender.kinds()
    before = sender.windows()
    endpoint = sender.endpoint
    endpoint.send("A", seq=endpoint.seq - 100_000, options_duplicateSack=1)
    await endpoint.replies()
    assert sender.kinds() == []
    assert sender.windows() == before


@cocotb.test()
async def another_policy_keeps_what_the_first_reduced(dut: Any) -> None:
    """The state of before would be another policy's."""
    sender = await Sender.create(dut, steady=policy("SteadyPolicy", "cubic"))
    await lose(sender)
    await sender.hear(10)
    sender.endpoint.choose(steady=policy("SteadyPolicy", "reno"))
    await sender.endpoint.replies()
    sender.kinds()
    before = sender.windows()
    await sender.hear(10, duplicate=True)
    assert "undone" not in sender.kinds()
    assert sender.windows() == before
