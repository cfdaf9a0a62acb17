# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The whole core among neighbours: it asks, it is found, and it believes of ICMP what it should."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import ICMP, IP, TCP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from cocotb_tests.bench import generator
from cocotb_tests.bench.layout import number
from cocotb_tests.bench.widths import end_widths, run_width
from cocotb_tests.core.core import CORE_IP, CORE_MAC, GATEWAY_IP, PEER_IP, PEER_MAC, Core
from cocotb_tests.core.peer import Peer

PORT = 5001
MSS = 1460
OPTIONS: list[tuple[str, object]] = [("MSS", MSS)]
ROUTER_MAC = "02:00:00:00:00:fe"


@end_widths
def test_core(width: int) -> None:
    run_width("Downbeat", __name__, width)


def put(core: Core, frame: Packet) -> None:
    core.wire_in.put(bytes(frame).ljust(60, b"\0"), user=core.now << 16)


def counted(dut: Any, name: str) -> int:
    return int(getattr(dut, f"counters_{name}").value)


async def opened(dut: Any) -> tuple[Core, Peer, int]:
    core = await Core.create(dut)
    peer = Peer(core, port=PORT)
    core.connect(port=PORT)
    await peer.accept_connection(OPTIONS)
    established = await core.notified_of("established")
    return core, peer, established["status_reference_flow"]


def tell(core: Core, kind: int, code: int, segment: TCP, *, mtu: int = 0, length: int | None = None) -> None:
    """A router's ICMP error about a segment of the core."""
    size = len(segment.data) + 40 if length is None else length
    about = IP(src=CORE_IP, dst=PEER_IP, flags="DF", len=size) / TCP(
        sport=segment.sport, dport=segment.dport, seq=segment.seq
    )
    message = ICMP(type=kind, code=code, nexthopmtu=mtu) if kind == 3 else ICMP(type=kind, code=code)
    put(core, Ether(src=ROUTER_MAC, dst=CORE_MAC) / IP(src=GATEWAY_IP, dst=CORE_IP) / message / Raw(bytes(about)[:28]))


async def settled(core: Core) -> None:
    """All that arrived has had its effect."""
    await core.wire_in.drained()
    await core.idle()


@cocotb.test()
async def a_connection_opens_once_its_neighbour_has_answered(dut: Any) -> None:
    core = await Core.create(dut, knows_peer=False)
    core.connect(port=PORT)
    request = Ether((await core.wire_out.receive()).data)
    assert (request[ARP].op, request[ARP].pdst) == (1, PEER_IP)
    await core.idle()
    assert await core.jump() <= 1_000_000_000
    assert Ether((await core.wire_out.receive()).data)[ARP].pdst == PEER_IP
    put(core, Ether(src=PEER_MAC, dst=CORE_MAC) / ARP(op=2, hwsrc=PEER_MAC, psrc=PEER_IP, hwdst=CORE_MAC, pdst=CORE_IP))
    peer = Peer(core, port=PORT)
    await peer.accept_connection(OPTIONS)
    await core.notified_of("established")


@cocotb.test()
async def a_connection_to_a_silent_neighbour_is_refused_as_unreachable(dut: Any) -> None:
    core = await Core.create(dut, knows_peer=False)
    core.connect(port=PORT, request=99)
    passed = sum([await core.jump() for _ in range(3)])
    notification = await core.notified()
    assert (notification["refused"], notification["reason"], notification["addresses_request"]) == (
        1,
        "unreachable",
        99,
    )
    assert 2_990_000_000 < passed <= 3_000_000_000


@cocotb.test()
async def ping_is_answered_beside_a_transfer(dut: Any) -> None:
    core, peer, flow = await opened(dut)
    data = generator().randbytes(20 * MSS)
    core.write(flow, data)
    pings, replies = 0, 0
    while len(peer.received) < len(data) or replies < pings:
        if pings < 10:
            put(
                core,
                Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / ICMP(seq=pings) / Raw(bytes(1000)),
            )
            pings += 1
        frame = await core.wire_out.receive()
        packet = Ether(frame.data)
        if ICMP in packet:
            assert (packet[ICMP].type, packet[ICMP].seq) == (0, replies)
            replies += 1
            continue
        segment = packet[TCP]
        segment.data = bytes(segment.payload)[: packet[IP].len - 20 - 4 * segment.dataofs]
        peer.accept(segment)
        peer.send("A")
    assert peer.received == data


@cocotb.test()
@cocotb.parametrize(mtu=[1400, 576, 100, 0])
async def a_transfer_goes_on_in_segments_that_fit_the_path(dut: Any, mtu: int) -> None:
    """RFC 1191: a longer packet is lost until the core learns of it, and is never sent again."""
    size = {1400: 1360, 576: 536, 100: 512, 0: 1452}[mtu]
    core, peer, flow = await opened(dut)
    data = generator().randbytes(9 * MSS + 123)
    core.write(flow, data)
    lost = [await peer.receive() for _ in range(5)]
    assert all(len(segment.data) == MSS for segment in lost)
    for segment in lost:
        tell(core, 3, 4, segment, mtu=mtu)
    first = lost[0].seq
    while len(peer.received) < len(data):
        segment = await peer.receive()
        if len(segment.data) > size:
            assert segment.seq != first, "the core knows the path MTU"
            continue  # it was on its way
        if segment.seq == peer.expected:
            assert (segment.seq - first) % size == 0
        peer.accept(segment)
        peer.send("A")
    assert peer.received == data
    assert counted(dut, "ignoredIcmpErrors") == len(lost) - 1
    more = generator().randbytes(3 * MSS)
    core.write(flow, more)
    while len(peer.received) < len(data) + len(more):
        segment = await peer.receive()
        assert len(segment.data) <= size, "never raised again"
        peer.accept(segment)
        peer.send("A")
    assert peer.received == data + more


@cocotb.test()
async def a_path_mtu_changes_no_congestion_window(dut: Any) -> None:
    """RFC 1191 6.5: the loss does not say that the path is congested."""
    core, peer, flow = await opened(dut)
    core.write(flow, bytes(20 * MSS))
    lost = [await peer.receive() for _ in range(10)]  # the initial window
    await settled(core)
    tell(core, 3, 4, lost[0], mtu=1000)
    again = [await peer.receive() for _ in range(10 * MSS // 960)]
    assert [segment.seq for segment in again] == [lost[0].seq + n * 960 for n in range(len(again))]
    await settled(core)
    assert core.wire_out.stream.pending() == []  # a window of bytes as it was


@cocotb.test()
async def forged_reports_change_nothing(dut: Any) -> None:
    """RFC 5927 4.1: the number must be in flight; 7.2: the packet must have been longer."""
    core, peer, flow = await opened(dut)
    core.write(flow, bytes(2 * MSS))
    segments = [await peer.receive() for _ in range(2)]
    peer.accept(segments[0])
    peer.send("A")
    await settled(core)
    before = counted(dut, "ignoredIcmpErrors")
    una, end = segments[1].seq, segments[1].seq + MSS
    for number_ in (una - 1, end, end + 1, una + 2**31, una - 2**31 + 5, segments[0].seq):
        forged = segments[1].copy()
        forged.data = segments[1].data
        forged.seq = number_ % 2**32
        tell(core, 3, 4, forged, mtu=600)
    await settled(core)
    assert counted(dut, "ignoredIcmpErrors") == before + 6
    tell(core, 3, 4, segments[1], mtu=1500)
    await settled(core)
    assert counted(dut, "neighbour_icmp_irrelevant") == 1
    stranger = segments[1].copy()
    stranger.data, stranger.sport = segments[1].data, 9
    tell(core, 3, 4, stranger, mtu=600)
    await settled(core)
    assert counted(dut, "directory_icmpErrors") == 1
    assert core.wire_out.stream.pending() == []
    peer.accept(segments[1])
    peer.send("A")
    core.write(flow, bytes(MSS))
    assert len((await peer.receive()).data) == MSS


@cocotb.test()
@cocotb.parametrize(code=[2, 3])
async def a_hard_error_ends_an_open_connection_does_not(dut: Any, code: int) -> None:
    """RFC 5927 6: hard in SYN-SENT, soft once the handshake is done."""
    core = await Core.create(dut)
    peer = Peer(core, port=PORT)
    core.connect(port=PORT)
    syn = await peer.receive()
    await core.notified_of("synSent")
    forged = syn.copy()
    forged.data, forged.seq = b"", (syn.seq + 1) % 2**32
    tell(core, 3, code, forged)
    await settled(core)
    assert counted(dut, "ignoredIcmpErrors") == 1
    tell(core, 11, 1, syn)  # soft
    notification = await core.notified_of("synSent")
    assert (notification["status_error_kind"], notification["status_error_code"]) == ("timeExceeded", 1)
    tell(core, 3, code, syn)
    closed = await core.notified_of("closed")
    assert closed["status_reason"] == "unreachable"
    core.command("close", flow=closed["status_reference_flow"])
    await settled(core)
    core.connect(port=PORT + 1)  # and the flow serves again
    peer = Peer(core, port=PORT + 1)
    await peer.accept_connection(OPTIONS)
    established = await core.notified_of("established")
    core.write(established["status_reference_flow"], bytes(100))
    segment = await peer.receive()
    tell(core, 3, code, segment)
    notification = await core.notified_of("established")
    assert (notification["status_error_kind"], notification["status_error_code"]) == ("unreachable", code)
    assert counted(dut, "ignoredIcmpErrors") == 1
    peer.accept(segment)
    peer.send("A")
    core.write(established["status_reference_flow"], bytes(100))
    peer.accept(await peer.receive())
    assert len(peer.received) == 200


@cocotb.test()
async def the_smallest_mtu_leaves_our_own_mss_alone(dut: Any) -> None:
    core, peer, flow = await opened(dut)
    core.write(flow, bytes(MSS))
    segment = await peer.receive()
    tell(core, 3, 4, segment, mtu=552)
    while len(peer.received) < MSS:
        peer.accept(await peer.receive())
    peer.send("A")
    peer.send("PA", generator().randbytes(number("ownMss")))
    await core.wire_in.drained()
    await core.jump()  # to the delayed ACK
    assert (await peer.receive()).ack == peer.sequence


@cocotb.test()
@cocotb.parametrize(active=[False, True])
async def a_transfer_goes_on_to_the_new_mac_of_its_peer(dut: Any, active: bool) -> None:
    """RFC 1122 2.3.2.1: a gratuitous ARP moves a running connection; no byte is lost or sent again."""
    core = await Core.create(dut, knows_peer=False)
    peer = Peer(core, port=PORT, core_port=0 if active else 80)
    if active:
        core.connect(port=PORT)
        await core.wire_out.receive()
        put(core, Ether(src=PEER_MAC, dst=CORE_MAC) / ARP(op=2, hwsrc=PEER_MAC, psrc=PEER_IP, pdst=CORE_IP))
        await peer.accept_connection(OPTIONS)
    else:
        core.listen(80)
        await core.idle()
        await peer.connect(OPTIONS)
    flow = (await core.notified_of("established"))["status_reference_flow"]
    data = generator().randbytes(30 * MSS)
    core.write(flow, data)
    for _ in range(10):  # the initial window
        peer.accept(await peer.receive())
    await settled(core)
    peer.mac = "02:00:00:00:00:77"
    announcement = ARP(op="who-has", hwsrc=peer.mac, psrc=PEER_IP, pdst=PEER_IP)
    put(core, Ether(src=peer.mac, dst="ff:ff:ff:ff:ff:ff") / announcement)
    await settled(core)
    peer.send("A")
    for _ in range(20):
        peer.accept(await peer.receive())
        peer.send("A")
    assert bytes(peer.received) == data
    await settled(core)
    assert core.wire_out.stream.pending() == [], "nothing is sent again"
