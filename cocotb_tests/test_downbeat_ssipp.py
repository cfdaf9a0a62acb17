# SPDX-License-Identifier: BSD-2-Clause-Patent
"""SSIPP's inverted pairs at the core's edge: which segments go when, and which ACKs are none of theirs."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import TCP

from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.receiver import DelayingReceiver
from cocotb_tests.core.station import MSS, opened, quiet


@end_widths_in_soak
def test_downbeat_ssipp(width: int) -> None:
    run_width("Downbeat", __name__, width)


# Yu's Algorithms 1 and 2 by hand, initial window 1, a receiver that delays ACKs: which segments each ACK releases.
RELEASED_BY_ACKS = [[2, 1], [4], [3, 6, 5], [8], [7, 10, 9], [12], [11, 14, 13], [16], [15, 18, 17], [20], [19, 22, 21]]


@cocotb.test()
async def ssipp_sends_pairs_the_other_way_round(dut: Any) -> None:
    core, peer, flow = await opened(
        dut, DelayingReceiver, startup="ssipp", initial_window=1, ssthresh=64 * MSS, no_delay=1
    )
    core.write(flow, bytes(40 * MSS))
    first = await peer.receive()
    assert not peer.take(first)
    on_the_way: list[TCP] = []
    peer.acknowledge()  # the receiver's timer
    for released in RELEASED_BY_ACKS:
        for _ in released:
            on_the_way.append(await peer.receive())
        assert [(segment.seq - first.seq) // MSS for segment in on_the_way[-len(released) :]] == released
        await core.idle()
        assert core.wire_out.stream.beats.empty()
        assert peer.take(on_the_way.pop(0))


@cocotb.test()
@cocotb.parametrize(selective=[False, True])
async def ssipp_doubles_the_window_each_round_trip(dut: Any, selective: bool) -> None:
    """In lock step: all ACKs of a window come back, then the next window goes. The first has one segment and half a
    pair."""
    core, peer, flow = await opened(
        dut, DelayingReceiver, selective=selective, startup="ssipp", initial_window=2, ssthresh=1000 * MSS
    )
    core.write(flow, bytes(40 * MSS))
    counts = []
    for _ in range(5):
        window = [await peer.receive()]
        while not await quiet(core):
            window.append(await peer.receive())
        counts.append(len(window))
        for segment in window:
            peer.take(segment)
        if peer.owes:
            peer.acknowledge()
        await core.idle()
    assert counts == [2, 2, 4, 8, 16]


@cocotb.test()
async def an_ack_beyond_the_unsent_half_is_of_unsent_data(dut: Any) -> None:
    """A window of two: a pair's second half has gone, its first has not. An ACK of that is answered, and nothing
    moves."""
    core, peer, flow = await opened(dut, startup="ssipp", initial_window=2, ssthresh=64 * MSS)
    core.write(flow, bytes(8 * MSS))
    first, ahead = await peer.receive(), await peer.receive()
    assert ahead.seq - first.seq == 2 * MSS
    assert await quiet(core)
    peer.send("A", acknowledgment=ahead.seq + MSS)
    challenge = await peer.receive()
    assert (challenge.flags, len(challenge.data)) == ("A", 0)
    peer.send("A", acknowledgment=first.seq + MSS)
    assert (await peer.receive()).seq == first.seq + MSS


@cocotb.test()
async def a_lost_first_half_is_found_by_the_fourth_ack(dut: Any) -> None:
    """The pair's own ACK is no duplicate; the third that is one sends it again."""
    core, peer, flow = await opened(dut, startup="ssipp", initial_window=9, ssthresh=64 * MSS)
    core.write(flow, bytes(30 * MSS))
    sent = [await peer.receive() for _ in range(9)]
    assert [(segment.seq - sent[0].seq) // MSS for segment in sent] == [0, 2, 1, 4, 3, 6, 5, 8, 7]
    hole = sent[0].seq + MSS
    peer.send("A", acknowledgment=hole)
    drained = [(segment.seq - sent[0].seq) // MSS for segment in [await peer.receive() for _ in range(2)]]
    assert drained == [10, 9]
    for _ in range(4):  # segment 1 of 2, 4, 3, 6 is lost
        await quiet(core)
        while not core.wire_out.stream.beats.empty():
            assert (await peer.receive()).seq != hole
        peer.send("A", acknowledgment=hole)
    found = [await peer.receive()]
    while found[-1].seq != hole:
        found.append(await peer.receive())
