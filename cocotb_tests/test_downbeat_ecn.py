# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ECN at the wire, both ways (RFC 3168): what a mark does to the window of the sender, and how a receiver tells of
it."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.core import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC, Core
from cocotb_tests.core.peer import Peer

PORT = 5001
MSS = 1460
OPTIONS: list[tuple[str, object]] = [("MSS", MSS), ("NOP", None), ("WScale", 7)]
ECT, MARKED = 2, 3  # codepoints in the IP header


@end_widths_in_soak
def test_downbeat_ecn(width: int) -> None:
    run_width("Downbeat", __name__, width)


async def opened(dut: Any, *, initial_window: int) -> tuple[Core, Peer, int]:
    """A connection that the core has opened, both sides willing (RFC 3168 6.1.1)."""
    core = await Core.create(dut)
    peer = Peer(core, port=PORT)
    core.connect(port=PORT, initial_window=initial_window, ecn=1)
    syn = await peer.receive()
    assert syn.flags == "SEC" and syn.underlayer.tos == 0
    peer.core_port, peer.expected = syn.sport, (syn.seq + 1) % 2**32
    peer.send("SAE", options=OPTIONS)
    acknowledgment = await peer.receive()
    assert acknowledgment.flags == "A" and acknowledgment.underlayer.tos == 0
    flow = (await core.notified_of("established"))["status_reference_flow"]
    peer.send("A")  # the window of a SYN is not scaled
    return core, peer, flow


async def flight(core: Core, peer: Peer) -> list[TCP]:
    """All that the core sends without another word."""
    await core.wire_in.drained()
    await core.writes.drained()
    await core.idle()
    found = []
    while not core.wire_out.stream.beats.empty():
        found.append(await peer.receive())
        await core.idle()
    return found


@cocotb.test()
async def a_sender_halves_its_window_once_in_a_window_and_says_so_once(dut: Any) -> None:
    """RFC 3168 6.1.2: of 16 segments in flight the first is marked; the receiver says ECE until it sees CWR, which
    comes with the first new data. Until then the window neither falls again nor grows, and nothing is sent again.
    """
    core, peer, flow = await opened(dut, initial_window=16)
    core.write(flow, bytes(44 * MSS))
    waiting = await flight(core, peer)
    assert len(waiting) == 16 and all(segment.underlayer.tos == ECT for segment in waiting)
    echoing = True
    reports, rounds, next_new = 0, 0, waiting[0].seq + 16 * MSS
    in_flight = []
    while len(peer.received) < 40 * MSS:
        segment = waiting.pop(0)
        peer.accept(segment)
        if "C" in segment.flags:
            reports += 1
            echoing = False
        peer.send("AE" if echoing else "A")
        for new in await flight(core, peer):
            assert new.seq == next_new, "something was sent again"
            next_new += MSS
            assert ("C" in new.flags) == (rounds == 0), "CWR on the first new data, once"
            assert new.underlayer.tos == ECT
            rounds += 1
            waiting.append(new)
        in_flight.append(len(waiting))
    assert reports == 1
    # Sixteen less those acknowledged, down to half; there it stays while ECE comes, one more round trip of eight.
    assert in_flight[:16] == [*range(15, 8, -1), *[8] * 9], str(in_flight)
    assert max(in_flight[16:]) in (9, 10, 11), "then it grows by a segment each round trip (RFC 5681 3.1)"


@cocotb.test()
async def a_second_mark_in_the_next_window_halves_again(dut: Any) -> None:
    core, peer, flow = await opened(dut, initial_window=16)
    core.write(flow, bytes(40 * MSS))
    waiting = await flight(core, peer)
    in_flight = [16]
    for at in range(30):
        peer.accept(waiting.pop(0))
        peer.send("AE" if at in (0, 5, 20) else "A")  # 5: what was in flight when the window fell
        waiting += await flight(core, peer)
        in_flight.append(len(waiting))
    assert min(in_flight[:20]) == 8
    assert 8 <= in_flight[20] <= 10
    assert min(in_flight[20:]) == in_flight[20] // 2


def marked(core: Core, peer: Peer, data: bytes, flags: str = "A", tos: int = MARKED) -> None:
    """A segment with this codepoint."""
    segment = TCP(
        sport=peer.port, dport=peer.core_port, flags=flags, seq=peer.sequence, ack=peer.expected, window=peer.window
    )
    frame = Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP, flags="DF", tos=tos) / segment / Raw(data)
    core.wire_in.put(bytes(frame).ljust(60, b"\0"), user=core.now << 16)
    peer.sequence += len(data)


@cocotb.test()
async def a_receiver_says_ece_from_the_mark_until_cwr(dut: Any) -> None:
    """RFC 3168 6.1.3: in every segment, with data of its own too; pure ACKs and what is sent again are not ECT (6.1.4,
    6.1.5)."""
    core, peer, flow = await opened(dut, initial_window=10)

    async def flags_of_ack() -> str:
        """Flags of the ACK of two segments, the second of which is given above."""
        (acknowledgment,) = await flight(core, peer)
        assert acknowledgment.underlayer.tos == 0 and acknowledgment.ack == peer.sequence
        return str(acknowledgment.flags)

    for codepoint, flags, expected in [
        (ECT, "A", "A"),
        (MARKED, "A", "AE"),
        (ECT, "A", "AE"),
        (ECT, "A", "AE"),
        (ECT, "AC", "A"),
        (ECT, "A", "A"),
        (MARKED, "AC", "AE"),
    ]:
        marked(core, peer, b"x" * 100, tos=ECT)
        marked(core, peer, b"y" * 100, flags, codepoint)
        assert await flags_of_ack() == expected, (codepoint, flags)
    core.write(flow, b"data of ours")
    (segment,) = await flight(core, peer)
    assert "E" in segment.flags and segment.underlayer.tos == ECT and segment.data == b"data of ours"
    await core.jump()  # to the timeout
    (again,) = await flight(core, peer)
    assert again.seq == segment.seq and again.underlayer.tos == 0 and "E" in again.flags
