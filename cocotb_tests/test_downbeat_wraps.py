# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Connections while something wraps: sequence numbers of either end, timestamps of either end, the core's time.

Nothing inside the core is preset: its initial sequence number and the offset of its timestamps are keyed hashes plus a
clock, so a test that knows the key chooses the instant, or the peer's port, at which they are what it wants.
"""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import TCP

from cocotb_tests.bench import generator
from cocotb_tests.bench.layout import number
from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.core import ADDRESSES, PEER_IP, Core, ip_number
from cocotb_tests.core.peer import Peer
from sim.golden.flow.keyed_numbers import Numbers, Tuple

PORT = 80  # port of the core
MSS = 1460
MODULUS = 2**32
TIME_WRAP = 2**48  # ns
SECOND = 10**9  # ns
TIMER_UNIT = 2**16  # ns: timers' ends are rounded up to it
TICK = 2**20  # ns, of our timestamps
OPTIONS: list[tuple[str, object]] = [("MSS", MSS), ("NOP", None), ("WScale", 7)]
NUMBERS = Numbers(ADDRESSES["secret"], ADDRESSES["local_ip"])


@end_widths_in_soak
def test_downbeat_wraps(width: int) -> None:
    run_width("Downbeat", __name__, width)


def key_of(peer_port: int) -> Tuple:
    return ip_number(PEER_IP), peer_port, PORT


async def listening(dut: Any) -> Core:
    core = await Core.create(dut)
    core.listen(PORT)
    await core.idle()
    return core


async def accepted(core: Core, peer: Peer, options: list[tuple[str, object]]) -> tuple[TCP, int]:
    """The peer opens; our SYN-ACK, and the flow."""
    reply = await peer.connect(options)
    return reply, (await core.notified_of("established"))["status_reference_flow"]


async def close(core: Core, peer: Peer, flow: int) -> None:
    """Both ends have nothing more to say; we first, so that TIME-WAIT is ours."""
    core.command("close", flow=flow)
    fin = await peer.receive()
    assert "F" in fin.flags and fin.seq == peer.expected
    peer.accept(fin)
    peer.send("FA")
    last = await peer.receive()
    assert last.ack == peer.sequence
    assert (await core.notified_of("closed"))["status_reason"] == "finished"
    await core.idle()  # the flow is free
    peer.send("FA", sequence=(peer.sequence - 1) % MODULUS)
    assert (await peer.receive()).flags == "A"
    assert 59 * SECOND < await core.jump() <= 60 * SECOND + TIMER_UNIT


@cocotb.test()
@cocotb.parametrize(before=[1, 2, MSS + 1, 3 * MSS + 700, 6 * MSS + 1, 6 * MSS + 2])
async def our_sequence_numbers_wrap(dut: Any, before: int) -> None:
    """With the SYN, the data, the FIN, and what fast retransmission sends again."""
    core = await listening(dut)
    # The initial sequence number is a clock of 4.096 us ahead of the 4-tuple's own number (RFC 6528 3).
    tick = (-before - NUMBERS.initial_sequence(key_of(5000), 0)) % MODULUS
    await core.advance((tick << 12) + (2**44 if tick < 2**20 else 0))
    peer = Peer(core, port=5000, core_port=PORT)
    reply, flow = await accepted(core, peer, OPTIONS)
    assert reply.seq == MODULUS - before
    data = generator().randbytes(6 * MSS)
    core.write(flow, data)
    segments = [await peer.receive() for _ in range(6)]
    assert [segment.seq for segment in segments] == [(1 - before + i * MSS) % MODULUS for i in range(6)]
    peer.accept(segments[0])
    peer.send("A")
    for _ in range(3):
        peer.send("A")
    again = await peer.receive()
    assert again.seq == segments[1].seq and again.data == segments[1].data
    for segment in segments[1:]:
        peer.accept(segment)
    peer.send("A")
    assert peer.received == data
    await close(core, peer, flow)


@cocotb.test()
@cocotb.parametrize(before=[1, 2, 1000, 2001, 3000])
async def the_peers_sequence_numbers_wrap(dut: Any, before: int) -> None:
    """With its SYN, in order, beyond a hole (RFC 2018), and with its FIN."""
    core = await listening(dut)
    peer = Peer(core, port=5000, core_port=PORT, sequence=MODULUS - before)
    _, flow = await accepted(core, peer, [*OPTIONS, ("SAckOK", b"")])
    data = generator().randbytes(3000)
    begin = peer.sequence
    peer.send("A", data[:1000])
    peer.send("A", data[2000:], sequence=(begin + 2000) % MODULUS)
    hole = await peer.receive()
    assert hole.ack == (begin + 1000) % MODULUS
    assert dict(hole.options)["SAck"] == ((begin + 2000) % MODULUS, (begin + 3000) % MODULUS)
    peer.send("A", data[1000:2000], sequence=(begin + 1000) % MODULUS)
    peer.sequence = (begin + 3000) % MODULUS
    filled = await peer.receive()
    assert filled.ack == peer.sequence and "SAck" not in dict(filled.options)
    assert await core.read(flow, 3000) == data
    # A SYN's window is not scaled: it offers 65,535 bytes, and one byte more is too little to offer (SWS avoidance).
    offered = min(number("receiveBufferBytes"), 65535) - 3000
    assert filled.window == offered >> number("receiveWindowScale")
    await core.idle()
    await close(core, peer, flow)


@cocotb.test()
async def timestamps_of_both_ends_wrap(dut: Any) -> None:
    """RFC 7323: ours count on, the peer's are echoed, and what is old after the wrap is dropped (5.3)."""
    core = await listening(dut)
    # A port whose offset is so high that our timestamps wrap within hours.
    port = next(port for port in range(1024, 65536) if MODULUS - NUMBERS.timestamp_offset(key_of(port)) < 2**24)
    ticks = MODULUS - NUMBERS.timestamp_offset(key_of(port)) - 3  # until ours is three before the wrap
    await core.advance(ticks * TICK)
    theirs = MODULUS - 3
    peer = Peer(core, port=port, core_port=PORT)

    def stamped(value: int, echo: int) -> list[tuple[str, object]]:
        return [("NOP", None), ("NOP", None), ("Timestamp", (value % MODULUS, echo))]

    peer.send("S", options=[*OPTIONS, ("SAckOK", b""), ("Timestamp", (theirs, 0))])
    reply = await peer.receive()
    ours, echo = dict(reply.options)["Timestamp"]
    assert ours == MODULUS - 3 and echo == theirs
    peer.expected = (reply.seq + 1) % MODULUS
    peer.send("A", options=stamped(theirs, ours))
    flow = (await core.notified_of("established"))["status_reference_flow"]
    for step in range(1, 7):
        await core.advance((ticks + step) * TICK)
        core.write(flow, bytes(100))
        segment = await peer.receive()
        assert dict(segment.options)["Timestamp"] == ((MODULUS - 3 + step) % MODULUS, (theirs + step - 1) % MODULUS)
        peer.accept(segment)
        peer.send("A", b"x", options=stamped(theirs + step, dict(segment.options)["Timestamp"][0]))
        await core.wire_in.drained()
        await core.idle()
    # Two full turns of what is old: before the wrap, and after it.
    for old in (theirs, theirs + 5):
        peer.send("A", b"y", options=stamped(old, 0), advance=False)
        refusal = await peer.receive()
        assert refusal.ack == peer.sequence
    assert await core.read(flow, 6) == b"xxxxxx"


@cocotb.test()
@cocotb.parametrize(wrap=[TIME_WRAP // 2, TIME_WRAP])
async def time_wraps_before_a_timeout(dut: Any, wrap: int) -> None:
    """RFC 6298 over the wrap of 48 bits of ns, and over the change of their sign."""
    core = await listening(dut)
    await core.advance(wrap - SECOND // 2)
    peer = Peer(core, port=5000, core_port=PORT)
    _, flow = await accepted(core, peer, OPTIONS)
    core.write(flow, b"x" * 100)
    first = await peer.receive()
    assert 0.9 * SECOND < await core.jump() <= SECOND + TIMER_UNIT
    assert wrap < core.now < wrap + SECOND
    again = await peer.receive()
    assert (again.seq, again.data) == (first.seq, first.data)
    peer.accept(again)
    peer.send("A")
    peer.send("PA", b"requests")
    await core.wire_in.drained()
    assert await core.jump() < SECOND // 2  # RFC 9293 3.8.6.3
    assert (await peer.receive()).ack == peer.sequence
    assert await core.read(flow, 8) == b"requests"
    await core.idle()
    await close(core, peer, flow)


@cocotb.test()
@cocotb.parametrize(wrap=[TIME_WRAP // 2, TIME_WRAP])
async def time_wraps_in_the_midst_of_paced_segments(dut: Any, wrap: int) -> None:
    """Their spacing is kept to 2^-16 ns."""
    nanoseconds_per_byte = 10 + 1 / 3
    core = await Core.create(dut)
    await core.advance(wrap - 100_000)
    peer = Peer(core, port=5000)
    core.connect(port=5000, spacing=int(nanoseconds_per_byte * 2**32))
    await peer.accept_connection(OPTIONS)
    flow = (await core.notified_of("established"))["status_reference_flow"]
    core.write(flow, bytes(14 * MSS))
    for _ in range(14):
        segment = await peer.receive(clocks=40_000)
        peer.accept(segment)
        peer.send("A")
    data = peer.launches[1:]  # behind the SYN
    assert core.now > wrap > core.now - 14 * MSS * nanoseconds_per_byte
    for i, launch in enumerate(data[1:], start=1):
        assert abs((launch - data[0]) % TIME_WRAP - i * MSS * nanoseconds_per_byte) < 2**-3


@cocotb.test()
@cocotb.parametrize(wrap=[TIME_WRAP // 2, TIME_WRAP])
async def a_time_wait_that_begins_before_the_wrap_ends_after_it(dut: Any, wrap: int) -> None:
    core = await listening(dut)
    await core.advance(wrap - 30 * SECOND)
    peer = Peer(core, port=5000, core_port=PORT)
    _, flow = await accepted(core, peer, OPTIONS)
    await close(core, peer, flow)
    assert wrap < core.now < wrap + 31 * SECOND


@cocotb.test()
async def our_timestamps_count_on_through_sixteen_wraps_of_time(dut: Any) -> None:
    """52 days, when what counts the wraps wraps itself, and with it the timestamps."""
    core = await listening(dut)
    peer = Peer(core, port=5000, core_port=PORT)
    begun = core.now
    peer.send("S", options=[*OPTIONS, ("Timestamp", (1, 0))])
    reply = await peer.receive()
    peer.expected = (reply.seq + 1) % MODULUS
    first = dict(reply.options)["Timestamp"][0]
    peer.send("A", options=[("NOP", None), ("NOP", None), ("Timestamp", (1, first))])
    flow = (await core.notified_of("established"))["status_reference_flow"]
    await core.advance(begun + 16 * TIME_WRAP + 5 * TICK)
    core.write(flow, b"awake")
    segment = await peer.receive()
    value, _ = dict(segment.options)["Timestamp"]
    assert (value - first - (core.now - begun) // TICK) % MODULUS in (0, 1, MODULUS - 1)
