# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Stamps of segments in the rings of the programs that asked for them."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import TCP
from scapy.packet import Raw

from cocotb_tests.bench.runner import run_module
from cocotb_tests.core.peer import Peer
from cocotb_tests.host.host import Host, HostConnection, HostPort
from cocotb_tests.host.transfer import PORT, opened

RING_LOG2 = 6  # notifications of a ring
FULL = 536  # a peer without an MSS option


def test_downbeat_host_stamps() -> None:
    run_module("DownbeatHost", __name__)


async def carry(peer: Peer, connection: HostConnection, length: int) -> list[int]:
    """Bytes to the peer, which acknowledges them; returns the ends of their segments."""
    ends: list[int] = []
    await connection.send(bytes(length))
    while not ends or ends[-1] != connection.written:
        segment = await peer.receive()
        peer.accept(segment)
        ends.append((segment.seq + len(segment.data)) % 2**32)
        peer.send("A")
    return ends


async def settled(host: Host, *ports: HostPort) -> None:
    """Nothing moves, and all that was notified is read."""
    for _ in range(4):
        await host.core.idle()
        for port in ports:
            port.drain()
            await port.acknowledge()


@cocotb.test()
async def each_segment_either_way_has_its_stamp(dut: Any) -> None:
    """To 2^-16 ns; the ACKs of the core have none."""
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start(notifications=RING_LOG2)
    peer, connection = await opened(host, sequence=2**32 - 10)
    await connection.command("stamps")
    await settled(host, port)
    peer.departed.clear()
    peer.fraction = 0xBEEF
    ends = await carry(peer, connection, 2 * FULL + 7)
    came = []
    for data in (b"before the wrap", b"behind it"):
        came.append(((peer.sequence + len(data)) % 2**32, host.core.stamp + 0x8001))
        tcp = TCP(
            sport=peer.port, dport=peer.core_port, flags="PA", seq=peer.sequence, ack=peer.expected, window=peer.window
        )
        peer.put(tcp / Raw(data), came[-1][1])
        peer.sequence = came[-1][0]
    await settled(host, port)
    assert [
        stamp
        for stamp in port.stamps
        if (stamp["flow"], stamp["generation"]) != (connection.flow, connection.generation)
    ] == []
    sent = [(stamp["end"], stamp["sfd"]) for stamp in port.stamps if not stamp["received"]]
    assert sent == list(zip(ends, peer.departed, strict=True)) and len(sent) == 3
    received = [(stamp["end"], stamp["sfd"]) for stamp in port.stamps if stamp["received"]]
    assert received[-2:] == came and {end for end, _ in received[:-2]} == {2**32 - 9}, "ACKs, then data"
    assert {stamp["dropped"] for stamp in port.stamps} == {0}


@cocotb.test()
async def nobody_else_hears_of_a_stamp(dut: Any) -> None:
    """Another port, another connection of the port, and the flow's next connection."""
    host = await Host.create(dut)
    port, other = host.ports[:2]
    for each in (port, other):
        await each.start(notifications=RING_LOG2)
    peer, connection = await opened(host)
    second_peer, second = await opened(host, remote=PORT + 1)
    foreign_peer, foreign = await opened(host, 1, remote=PORT + 2)
    await other.command("stamps", flow=connection.flow, generation=connection.generation, request=5)
    response = await other.response()
    assert (response["kind"], response["reason"]) == ("error", "owner")
    await connection.command("stamps")
    await carry(second_peer, second, 100)
    await carry(foreign_peer, foreign, 100)
    await carry(peer, connection, 100)
    await settled(host, port, other)
    assert {(stamp["flow"], stamp["generation"]) for stamp in port.stamps} == {(connection.flow, connection.generation)}
    assert other.stamps == []

    await connection.command("abort")
    await settled(host, port, other)
    host.core.wire_out.stream.pending()
    port.stamps.clear()
    while True:  # until the flow is somebody's again
        later_peer, later = await opened(host, remote=PORT + 3)
        await carry(later_peer, later, 100)
        if later.flow == connection.flow:
            break
        await later.command("abort")
        await settled(host, port, other)
        host.core.wire_out.stream.pending()
    await settled(host, port, other)
    assert later.generation != connection.generation and port.stamps == []


@cocotb.test()
async def a_ring_without_space_loses_stamps_of_its_own_alone(dut: Any) -> None:
    """They are counted; the connection goes on, and so do the stamps of another port."""
    host = await Host.create(dut)
    port, other = host.ports[:2]
    await port.start(notifications=2)
    await other.start(notifications=RING_LOG2)
    peer, connection = await opened(host)
    other_peer, second = await opened(host, 1, remote=PORT + 1)
    for each in (connection, second):
        await each.command("stamps")
    await settled(host, port, other)
    ends = await carry(peer, connection, 6 * FULL)  # nobody reads the ring
    assert len(ends) == 6
    other_ends = await carry(other_peer, second, 2 * FULL)
    await settled(host, other)
    assert [stamp["end"] for stamp in other.stamps if not stamp["received"]] == other_ends
    assert {stamp["dropped"] for stamp in other.stamps} == {0}
    await settled(host, port)
    port.stamps.clear()
    (end,) = await carry(peer, connection, 10)
    await settled(host, port)
    (stamp,) = [stamp for stamp in port.stamps if not stamp["received"]]
    assert stamp["end"] == end and stamp["dropped"] >= 3
