# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Bad frames at the core's edge: counted by cause and dropped, or answered as the RFCs say; the next good connection
works."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import cocotb
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from cocotb_tests.addresses import PEER_IP
from cocotb_tests.bench import generator
from cocotb_tests.bench.widths import end_widths, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.peer import Peer
from cocotb_tests.rx.packets import BAD, frame

PORT = 80
DAMAGED = 1 << 64  # in TUSER of s_axis_wire_rx
# Drops for want of space, of frames that are good.
NOT_BAD = {"bypassOverflow", "controlOverflow", "noSlot"}


@end_widths
def test_bad_frames(width: int) -> None:
    run_width("Downbeat", __name__, width)


async def listening(dut: Any) -> Core:
    core = await Core.create(dut)
    core.listen(PORT)
    await core.idle()
    return core


def drops(dut: Any) -> dict[str, int]:
    """The counters that have moved, by cause."""
    names = [name for name in dir(dut) if name.startswith(("counters_receive_", "counters_directory_"))]
    assert names, "no counters at the core's edge"
    values = {name.split("_", 2)[2]: int(getattr(dut, name).value) for name in names}
    return {cause: value for cause, value in values.items() if value}


def causes(dut: Any) -> set[str]:
    """The causes for which the receiver drops a frame."""
    prefix = "counters_receive_"
    return {name.removeprefix(prefix) for name in dir(dut) if name.startswith(prefix)}


async def connects(core: Core, port: int) -> None:
    """A good connection from `port` of the peer: opens, carries a few bytes each way, and ends."""
    peer = Peer(core, port=port, core_port=PORT)
    await peer.connect([("MSS", 1460)])
    flow = (await core.notified_of("established"))["status_reference_flow"]
    sent = generator().randbytes(200)
    peer.send("PA", sent)
    await core.wire_in.drained()
    await core.jump()  # to the delayed ACK
    assert (await peer.receive()).ack == peer.sequence
    assert await core.read(flow, len(sent)) == sent
    core.write(flow, sent[::-1])
    peer.accept(await peer.receive())
    assert peer.received == sent[::-1]
    peer.send("A")
    await core.wire_in.drained()
    await core.idle()  # behind the RST the ACK would be answered by another one
    core.command("abort", flow=flow)
    assert "R" in (await peer.receive()).flags
    await core.notified_of("closed")
    await core.idle()


@cocotb.test()
async def each_bad_frame_is_counted_by_its_cause_and_the_next_connection_works(dut: Any) -> None:
    core = await listening(dut)
    draw = generator()
    damaged: list[tuple[str, str, Callable[[random.Random], bytes]]] = [
        ("badFrame", "FCS", lambda random: frame(random.randbytes(50))),
        ("oversize", "a byte too long", lambda random: frame(random.randbytes(1461))),
        ("oversize", "twice as long", lambda random: frame(random.randbytes(3000))),
    ]
    expected: dict[str, int] = {}
    for number, (cause, fault, make) in enumerate(damaged + BAD):
        raw = make(draw)
        core.wire_in.put(raw, user=core.now << 16 | (DAMAGED if cause == "badFrame" else 0))
        await core.wire_in.drained()
        await core.idle()
        expected[cause] = expected.get(cause, 0) + 1
        assert drops(dut) == expected, f"{cause}: {fault}"
        assert not core.wire_out.stream.pending(), f"{cause}: {fault} was answered"
        assert not core.bypass_out.stream.pending(), f"{cause}: {fault} left by the bypass"
        await connects(core, 10_000 + number)
    assert set(expected) == causes(dut) - NOT_BAD, "a cause that no frame here has"


@cocotb.test()
@cocotb.parametrize(mss=[0, 1, 63])
async def a_tiny_mss_is_taken_as_64_bytes(dut: Any, mss: int) -> None:
    """RFC 9293 sets no floor; one byte of payload in each frame is an attack (CVE-2019-11479)."""
    core = await listening(dut)
    peer = Peer(core, port=4000, core_port=PORT)
    await peer.connect([("MSS", mss)])
    flow = (await core.notified_of("established"))["status_reference_flow"]
    data = generator().randbytes(256)
    core.write(flow, data)
    while len(peer.received) < len(data):
        segment = await peer.receive()
        assert len(segment.data) == 64
        peer.accept(segment)
        peer.send("A")
    assert peer.received == data


@cocotb.test()
@cocotb.parametrize(shift=[15, 255])
async def a_window_scale_above_14_is_taken_as_14(dut: Any, shift: int) -> None:
    """RFC 7323 2.3."""
    core = await Core.create(dut)
    core.command("listen", localPort=PORT, parameters_ssthresh=65536, parameters_initialWindow=20)
    await core.idle()
    peer = Peer(core, port=4000, core_port=PORT)
    peer.window = 1  # 16,384 bytes: 11 full segments, and no twelfth
    await peer.connect([("MSS", 1460), ("NOP", None), ("WScale", shift)])
    flow = (await core.notified_of("established"))["status_reference_flow"]
    core.write(flow, bytes(20_000))
    for _ in range(11):
        assert len((await peer.receive()).data) == 1460
    await core.idle()
    assert not core.wire_out.stream.pending()


@cocotb.test()
async def data_on_a_syn_is_left_to_be_sent_again(dut: Any) -> None:
    """RFC 9293 3.10.7.4 allows to queue it; a receiver that does not must not acknowledge it."""
    core = await listening(dut)
    peer = Peer(core, port=4000, core_port=PORT)
    peer.send("S", b"early", options=[("MSS", 1460)], advance=False)
    reply = await peer.receive()
    assert reply.flags == "SA"
    assert reply.ack == peer.sequence + 1
    peer.sequence += 1
    peer.expected = (reply.seq + 1) % 2**32
    peer.send("A")
    flow = (await core.notified_of("established"))["status_reference_flow"]
    peer.send("PA", b"early")
    await core.wire_in.drained()
    await core.jump()  # to the delayed ACK
    assert (await peer.receive()).ack == peer.sequence
    assert await core.read(flow, 5) == b"early"


@cocotb.test()
@cocotb.parametrize(flags=["A", "FA", "PA"])
async def a_segment_for_no_connection_is_answered_by_a_reset(dut: Any, flags: str) -> None:
    """RFC 9293 3.10.7.1."""
    core = await listening(dut)
    raw = frame(b"abc", tcp={"sport": 4000, "dport": PORT, "flags": flags, "seq": 1000, "ack": 5000})
    core.wire_in.put(raw, user=core.now << 16)
    packet = Ether((await core.wire_out.receive()).data)
    assert packet[TCP].flags == "R"
    assert packet[TCP].seq == 5000
    assert packet[IP].dst == PEER_IP
    await connects(core, 4001)


@cocotb.test()
async def a_reset_for_no_connection_is_not_answered(dut: Any) -> None:
    core = await listening(dut)
    for flags in ("R", "RA"):
        core.wire_in.put(frame(tcp={"sport": 4000, "dport": PORT, "flags": flags}), user=core.now << 16)
    await core.wire_in.drained()
    await core.idle()
    assert not core.wire_out.stream.pending()
    await connects(core, 4001)
