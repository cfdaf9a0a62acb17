# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection of a port and its peer on the wire, and bytes both ways over it."""

from __future__ import annotations

from cocotb_tests.bench import generator
from cocotb_tests.core.peer import Peer
from cocotb_tests.host.host import Host, HostConnection

PORT = 7000
RING = 64 * 1024


async def opened(
    host: Host, index: int = 0, *, remote: int = PORT, local: int = 0, sequence: int = 1_000_000
) -> tuple[Peer, HostConnection]:
    """A connection that a port has opened."""
    peer = Peer(host.core, port=remote, sequence=sequence)
    await host.ports[index].open(remote, request=remote, localPort=local)
    await peer.accept_connection()
    return peer, await host.ports[index].connection("established", request=remote)


async def move(host: Host, peer: Peer, connection: HostConnection, length: int) -> None:
    """Random bytes both ways in random pieces: they arrive as they were sent."""
    draw = generator()
    to_peer, to_host = draw.randbytes(length), draw.randbytes(length)
    begin, arrived = peer.sequence, len(peer.received)
    sent = given = acknowledged = 0
    read = bytearray()
    while len(peer.received) - arrived < length or acknowledged < length or len(read) < length:
        moved = False
        if sent < length and (space := connection.space(RING)) > 0:
            piece = min(length - sent, space, draw.choice((1, 3, 64, 1400, 3000)))
            await connection.send(to_peer[sent : sent + piece])
            sent += piece
            moved = True
        if given < length:
            piece = min(length - given, draw.choice((1, 7, 536, 1460)))
            peer.send("PA", to_host[given : given + piece])
            given += piece
            moved = True
        while not host.core.wire_out.stream.beats.empty():
            segment = await peer.receive()
            if segment.dport != peer.port:
                continue  # another's
            peer.accept(segment)
            acknowledged = max(acknowledged, (segment.ack - begin) % 2**32)
            if segment.data:
                peer.send("A")
            moved = True
        connection.port.drain()
        if connection.port.head != connection.port.seen:
            await connection.port.acknowledge()
        if available := (connection.received - connection.consumed) % 2**32:
            read += await connection.read(draw.randint(1, available))
            moved = True
        if not moved:
            await host.core.idle()
            if host.core.wire_out.stream.beats.empty() and connection.port.poll() is None:
                # An ACK is delayed, or there was no slot: an honest peer sends it again.
                rest = to_host[acknowledged:given][:1460]
                peer.send("PA", rest, sequence=(begin + acknowledged) % 2**32)
                await host.core.wire_in.drained()
    assert bytes(peer.received[arrived:]) == to_peer
    assert bytes(read) == to_host
