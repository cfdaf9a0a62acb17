# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core in a computer: connections through rings in the host's memory, doorbells, interrupts."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import clocks, generator, until
from cocotb_tests.bench.layout import number as size_of
from cocotb_tests.bench.layout import unpack
from cocotb_tests.bench.runner import run_module
from cocotb_tests.core.peer import Peer
from cocotb_tests.host.format import number
from cocotb_tests.host.host import Host, HostConnection
from cocotb_tests.host.memory import RINGS_BASE
from cocotb_tests.registers.bus import RefusedError

PORT = 7000
RING = 64 * 1024


def test_downbeat_host() -> None:
    run_module("DownbeatHost", __name__)


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
    done = await port.answer()
    assert (done["kind"], done["request"], done["reason"]) == ("answer", 7, "none")
    await other.listen(80, request=8)
    await other.command("unlisten", request=9, localPort=80)
    assert [(answer["request"], answer["reason"]) for answer in (await other.answer(), await other.answer())] == [
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
    assert (await port.answer())["reason"] == "none"
    assert other.poll() is None and other.connections == {}


@cocotb.test()
async def what_is_refused_later_is_answered(dut: Any) -> None:
    """An open to an address that cannot be; policies and arguments that this build does not have."""
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    await port.open(PORT, request=3, remoteIp=0x7F000001)
    await port.open(PORT, request=4, startup=200)
    await port.open(PORT, request=5, steadyArgument=1 << 127)
    await port.command("open", request=6, remoteIp=0x0A000002, remotePort=1, startupArgument=1)
    answers = {answer["request"]: answer for answer in [await port.answer() for _ in range(4)]}
    assert (answers[3]["kind"], answers[3]["reason"]) == ("answer", "unreachable")
    assert [answers[request]["reason"] for request in (4, 5)] == ["field", "field"]
    assert (answers[6]["kind"], answers[6]["reason"]) == ("answer", "policyArgument")


@cocotb.test()
async def a_start_is_answered_and_the_path_is_reported(dut: Any) -> None:
    """With something in flight it is refused; the reports are of the port's own connections."""
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    peer, connection = await opened(host)
    await connection.command("start", request=21, ssthresh=5_000, startWindow=20)
    answer = await port.answer()
    assert (answer["request"], answer["reason"]) == (21, "none")
    await connection.send(b"in flight")
    segment = await peer.receive()
    await connection.command("start", request=22, ssthresh=5_000, startWindow=2)
    answer = await port.answer()
    assert (answer["request"], answer["reason"]) == (22, "inFlight")
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
    assert (await port.answer())["request"] == 11
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
    assert (await port.answer())["reason"] == "notOpen"


@cocotb.test()
async def a_full_ring_stops_no_other_port_and_loses_no_answer(dut: Any) -> None:
    host = await Host.create(dut)
    slow, quick = host.ports
    await slow.start(notifications=1, commands=4)
    await quick.start()
    slow_peer, slow_connection = await opened(host)
    await slow.acknowledge()
    peer, connection = await opened(host, 1, remote=PORT + 1)
    for request in range(12):  # the slow program does not read
        await slow.listen(80, request=100 + request)
    slow_peer.send("PA", b"not looked at")
    await move(host, peer, connection, 3000)
    answers = [await slow.answer() for _ in range(12)]
    assert [answer["request"] for answer in answers] == list(range(100, 112))
    assert [answer["reason"] for answer in answers] == ["none"] + ["addressInUse"] * 11
    await until(
        dut, lambda: slow.poll() is not None or slow_connection.received == slow_peer.sequence, "the data", 5000
    )
    assert await slow_connection.read(13) == b"not looked at"


@cocotb.test()
async def an_interrupt_comes_when_the_time_has_come(dut: Any) -> None:
    """The hold-off is time, not clocks: an idle core says when, and sleeps until then."""
    host = await Host.create(dut)
    port = host.ports[0]
    hold_off = 5_000_000  # ns
    await port.start(hold_off=hold_off)
    await port.acknowledge(arm=True)
    peer, connection = await opened(host)
    await until(dut, lambda: dut.interrupt.value == 1, "the first interrupt")
    assert await host.shown("interrupts") == 1
    port.drain()
    await port.acknowledge(arm=True)
    await clocks(dut, 20)
    rose = host.core.now
    assert dut.interrupt.value == 0
    peer.send("PA", b"x")
    await host.core.wire_in.drained()
    await host.core.idle()
    assert dut.interrupt.value == 0 and port.poll() is not None
    passed = await host.core.jump()
    assert hold_off - 100_000 < passed <= hold_off
    await until(dut, lambda: dut.interrupt.value == 1, "the second interrupt", 20)
    assert host.core.now - rose < hold_off + 1000
    await port.acknowledge()
    await clocks(dut, 20)
    assert dut.interrupt.value == 0
    peer.send("PA", b"y")
    await host.core.wire_in.drained()
    await host.core.advance(host.core.now + 2 * hold_off)
    assert dut.interrupt.value == 0, "nobody has armed it"
    port.drain()
    assert await connection.read((connection.received - connection.consumed) % 2**32) == b"xy"


@cocotb.test()
async def who_takes_a_port_over_hears_of_its_connections(dut: Any) -> None:
    """The next program aborts what a dead one has left; the other port's connection stays."""
    host = await Host.create(dut)
    dead = host.ports[0]
    for port in host.ports:
        await port.start()
    peer, left = await opened(host)
    other_peer, connection = await opened(host, 1, remote=PORT + 1)
    await left.send(b"last words")
    await dead.stop()
    segment = await peer.receive()
    assert segment.data == b"last words"
    dead.connections.clear()
    dead.others.clear()
    await dead.start()
    found = await dead.connection("established")
    assert (found.flow, found.generation) == (left.flow, left.generation)
    await found.command("abort")
    assert "R" in (await peer.receive()).flags
    await move(host, other_peer, connection, 1000)
    assert all(key == (found.flow, found.generation) for key in dead.connections)


@cocotb.test()
async def rings_that_cannot_be_are_refused_and_a_broken_one_stops_its_port(dut: Any) -> None:
    host = await Host.create(dut)
    port, other = host.ports
    await other.start()
    for commands, notifications in ((0, 4), (16, 4), (3, 0), (3, 16)):
        assert await port.try_start(commands, notifications) == 2, "refused"
        await port.set("control", 0)
    await port.start()
    await port.stop()
    await port.set("commandBaseLow", (RINGS_BASE + 8) & 0xFFFFFFFF)
    await port.set("control", 1)
    await clocks(dut, 20)
    assert await port.get("status") == 2, "refused: not a page"
    await port.set("control", 0)
    await port.start()
    host.memory.ring_reads.faults = range(RINGS_BASE + port.commands_at, RINGS_BASE + port.commands_at + 8)
    await port.listen(80)
    await clocks(dut, 200)
    assert await port.get("status") == 4, "stopped"
    await other.listen(81)
    assert (await other.answer())["reason"] == "none"
    host.memory.ring_reads.faults = ()
    await port.set("control", 0)
    await port.start()
    await port.listen(80)
    assert (await port.answer())["reason"] == "none"


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
    assert {news["status_reference_flow"] for news in fabric} <= {flow}
    assert [key[0] for key in port.connections] == [connection.flow]
    await port.ring("written", flow, 0, 0)
    assert (await port.answer())["reason"] == "owner"


@cocotb.test()
async def a_half_written_word_is_no_doorbell(dut: Any) -> None:
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    page = number("firstDoorbellPage") * number("pageBytes")
    for address, data in (
        (page + 0x10, b"\1\0"),
        (page + 0x04, b"\1"),
        (page + 0x0C, b"\1\2\3"),
        (page + 0x30, b"\0" * 4),
    ):
        try:
            await host.registers.write_at(address, data)
        except RefusedError:
            continue
        raise AssertionError(f"{address:#x} took {len(data)} bytes")
    assert await port.shown("commandHead") == 0 and await port.get("errors") == 0
    assert await host.shown("hostFormat") == number("format")
    assert await host.shown("formatHash") == number("formatHash")
    assert await host.registers.read("flows") == size_of("flows")
