# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core in a computer: connections through rings in the host's memory."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import TCP
from scapy.packet import Raw

from cocotb_tests.bench import clocks
from cocotb_tests.bench.layout import unpack
from cocotb_tests.bench.runner import run_module
from cocotb_tests.core.peer import Peer
from cocotb_tests.host.host import Host
from cocotb_tests.host.transfer import PORT, RING, move, opened


def test_downbeat_host() -> None:
    run_module("DownbeatHost", __name__)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def bytes_pass_through_both_rings_and_their_ends(dut: Any, stall: float) -> None:
    host = await Host.create(dut, stall=stall)
    port = host.ports[0]
    await port.start()
    _, first = await opened(host, local=40_000)
    port.connections.clear()
    # Initial numbers are a clock of 4.096 us and a hash of the addresses: this connection again, a little before its
    # send ring's end. The receive ring ends within the peer's first bytes.
    await first.command("abort")
    ahead = (RING - 2000 - first.written) % RING
    await host.core.advance(host.core.now + ahead * 4096)
    host.core.wire_out.stream.pending()
    peer, connection = await opened(host, local=40_000, sequence=2**32 - 700)
    assert connection.written % RING > RING - 6000
    await move(host, peer, connection, 6000)
    host.memory.check()
    assert await port.get("errors") == 0


@cocotb.test()
async def an_accepted_connection_is_its_listeners(dut: Any) -> None:
    """The other port can neither listen there nor end the listening, and hears nothing."""
    host = await Host.create(dut)
    other, port = host.ports
    for each in host.ports:
        await each.start()
    await port.listen(80, request=7)
    done = await port.response()
    assert (done["kind"], done["request"], done["reason"]) == ("response", 7, "none")
    await other.listen(80, request=8)
    await other.command("unlisten", request=9, localPort=80)
    assert [
        (response["request"], response["reason"]) for response in (await other.response(), await other.response())
    ] == [
        (8, "addressInUse"),
        (9, "addressInUse"),
    ]
    peer = Peer(host.core, port=PORT, core_port=80)
    await peer.connect()
    connection = await port.connection("established")
    assert connection.status["flags"] & 1, "passive"
    assert (connection.status["localPort"], connection.status["remotePort"]) == (80, PORT)
    await move(host, peer, connection, 2000)
    await port.command("unlisten", request=10, localPort=80)
    assert (await port.response())["reason"] == "none"
    assert other.poll() is None and other.connections == {}


@cocotb.test()
async def a_refusal_of_the_core_comes_as_a_response(dut: Any) -> None:
    """An open to an address that cannot be; policies and arguments that this build does not have."""
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    await port.open(PORT, request=3, remoteIp=0x7F000001)
    await port.open(PORT, request=4, startup=200)
    await port.open(PORT, request=5, steadyArgument=1 << 127)
    await port.command("open", request=6, remoteIp=0x0A000002, remotePort=1, startupArgument=1)
    responses = {response["request"]: response for response in [await port.response() for _ in range(4)]}
    assert (responses[3]["kind"], responses[3]["reason"]) == ("response", "unreachable")
    assert [responses[request]["reason"] for request in (4, 5)] == ["field", "field"]
    assert (responses[6]["kind"], responses[6]["reason"]) == ("response", "policyArgument")


@cocotb.test()
async def a_start_is_answered_and_the_path_is_reported(dut: Any) -> None:
    """With something in flight it is refused; the reports are of the port's own connections."""
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    peer, connection = await opened(host)
    await connection.command("start", request=21, ssthresh=5_000, startWindow=20)
    response = await port.response()
    assert (response["request"], response["reason"]) == (21, "none")
    await connection.send(b"in flight")
    segment = await peer.receive()
    await connection.command("start", request=22, ssthresh=5_000, startWindow=2)
    response = await port.response()
    assert (response["request"], response["reason"]) == (22, "inFlight")
    peer.accept(segment)
    while not (found := [report for report in port.reports if report["ssthresh"] == 5_000]):
        await port.take()
    assert {(report["flow"], report["generation"]) for report in port.reports} == {
        (connection.flow, connection.generation)
    }
    assert found[0]["cwnd"] == 20 * found[0]["segmentSize"] and found[0]["state"] == 1  # in avoidance
    assert not host.ports[1].reports


@cocotb.test()
async def data_stays_behind_commands_and_a_close_takes_it_along(dut: Any) -> None:
    """A doorbell waits for the commands before it, while the memory is slow; what was rung before a close goes out."""
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    peer, connection = await opened(host)
    host.memory.ring_reads.ar_channel.pause = True
    await connection.command("setPolicies", request=11, steady=0)
    await connection.send(b"behind the command")
    await clocks(dut, 300)
    assert host.core.wire_out.stream.beats.empty(), "the doorbell has overtaken the command"
    host.memory.ring_reads.ar_channel.pause = False
    assert (await port.response())["request"] == 11
    segment = await peer.receive()
    assert segment.data == b"behind the command"
    peer.accept(segment)
    peer.send("A")
    await connection.send(b"before the close")
    await connection.command("close")
    await connection.port.write("writtenSequence", 0)  # half a doorbell rings nothing
    before = len(peer.received)
    while "F" not in segment.flags:
        segment = await peer.receive()
        peer.accept(segment)
    assert peer.received[before:] == b"before the close"
    await port.ring("written", connection.flow, connection.generation, connection.written)
    assert (await port.response())["reason"] == "notOpen"


@cocotb.test()
async def urgent_bytes_are_so_both_ways(dut: Any) -> None:
    """Segments that begin before the end of urgent data point at it; a peer's pointer is in the statuses."""
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    peer, connection = await opened(host)
    first = connection.written
    host.memory.ring_reads.ar_channel.pause = True
    await connection.command("setPolicies", request=11, steady=0)
    for data, urgent in ((b"before", False), (b"!", True), (b"behind", False)):
        await connection.send(data, urgent=urgent)
    host.memory.ring_reads.ar_channel.pause = False
    assert (await port.response())["request"] == 11
    pointers = []
    while len(peer.received) < 13:
        segment = await peer.receive()
        peer.accept(segment)
        if "U" in segment.flags:
            pointers.append((segment.seq + segment.urgptr - first) % 2**32)
            assert (segment.seq - first) % 2**32 < 7
        peer.send("A")
    assert peer.received == b"before!behind" and set(pointers) == {7}
    before, begin = peer.sequence, connection.consumed
    urgent = TCP(sport=PORT, dport=peer.core_port, flags="PAU", seq=before, ack=peer.expected, window=65535, urgptr=4)
    peer.put(urgent / Raw(b"abc!efg"), host.core.stamp)
    while connection.received != (begin + 7) % 2**32:
        await port.take()
    assert connection.status["flags"] >> 2 & 1
    assert (connection.status["urgentEnd"] - begin) % 2**32 == 4
    assert await connection.read(4) == b"abc!"


@cocotb.test()
async def streams_in_the_fabric_stay_as_they_are(dut: Any) -> None:
    """An application in the fabric and a host use one core, and neither hears of the other's connections."""
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    peer, connection = await opened(host)
    own = Peer(host.core, port=PORT + 1)
    host.core.connect(port=PORT + 1)
    await own.accept_connection()
    flow = (await host.core.notified_of("established"))["status_reference_flow"]
    host.core.write(flow, b"from the fabric")
    assert (await own.receive()).data == b"from the fabric"
    await move(host, peer, connection, 1000)
    fabric = [unpack("Notification", beat["data"]) for beat in host.core.notifications.pending()]
    assert {notification["status_reference_flow"] for notification in fabric} <= {flow}
    assert [key[0] for key in port.connections] == [connection.flow]
    await port.ring("written", flow, 0, 0)
    assert (await port.response())["reason"] == "owner"
