# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core on 802.1Q VLANs: connections, neighbours and answers keep to the network that they belong to."""

from __future__ import annotations

from typing import Any

import cocotb
from scapy.layers.inet import ICMP, IP, TCP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from cocotb_tests.addresses import VLANS
from cocotb_tests.bench import generator
from cocotb_tests.bench.layout import number
from cocotb_tests.bench.widths import end_widths, run_width
from cocotb_tests.core.core import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC, Core
from cocotb_tests.core.peer import Peer

OURS = {place: vlan for place, vlan in enumerate(VLANS, 1) if vlan[0]}
UNUSED = next(place for place, vlan in enumerate(VLANS, 1) if not vlan[0])
OTHER = 101
BROADCAST = "ff:ff:ff:ff:ff:ff"


@end_widths
def test_downbeat_vlans(width: int) -> None:
    run_width("Downbeat", __name__, width)


async def on_vlans(dut: Any, *, stall: float = 0.0, knows_peer: bool = True) -> Core:
    dut.local_vlans.value = sum((pcp << 13 | vid) << 16 * place for place, (vid, pcp) in enumerate(VLANS))
    core = await Core.create(dut, stall=stall, knows_peer=knows_peer)
    core.listen(80)
    await core.idle()
    return core


async def sent(core: Core) -> tuple[Packet, bytes]:
    """The next frame that leaves; its tag has our priority of that VLAN, whatever the peer's was."""
    raw = (await core.wire_out.receive()).data
    packet = Ether(raw)
    if Dot1Q in packet:
        assert (packet[Dot1Q].vlan, packet[Dot1Q].prio) in OURS.values() and packet[Dot1Q].id == 0
    return packet, raw


@cocotb.test()
@cocotb.parametrize(place=[1, 3])
async def every_frame_of_a_connection_bears_its_tag(dut: Any, place: int) -> None:
    core = await on_vlans(dut, stall=0.2)
    draw = generator()
    request, reply = draw.randbytes(700), draw.randbytes(4000)
    peer = Peer(core, port=3000, core_port=80, vlan=OURS[place][0])
    syn_ack = await peer.connect(options=[("MSS", 1460)])
    assert dict(syn_ack.options)["MSS"] == number("ownMss"), "the tag takes nothing of the segment"
    accepted = await core.notified_of("established")
    flow = accepted["status_reference_flow"]
    assert accepted["addresses_vlan"] == place
    peer.send("PA", request)
    await core.idle()
    assert await core.read(flow, len(request)) == request
    core.write(flow, reply)
    sizes = set()
    while len(peer.received) < len(reply):
        segment = await peer.receive()
        sizes.add(len(segment.data))
        peer.accept(segment)
        if segment.data:
            peer.send("A")
    assert bytes(peer.received) == reply
    assert max(sizes) == number("ownMss")
    core.command("abort", flow=flow)
    while "R" not in (await peer.receive()).flags:
        pass


@cocotb.test()
async def peers_of_two_vlans_with_the_same_addresses_and_ports_do_not_meet(dut: Any) -> None:
    core = await on_vlans(dut)
    draw = generator()
    peers = {vid: Peer(core, port=3000, core_port=80, vlan=vid) for vid in (0, *(vid for vid, _ in OURS.values()))}
    flows, data = {}, {}
    for vid, peer in peers.items():
        await peer.connect()
        flows[vid] = (await core.notified_of("established"))["status_reference_flow"]
    assert len(set(flows.values())) == len(peers)
    for vid, peer in peers.items():
        data[vid] = draw.randbytes(300)
        peer.send("PA", data[vid])
    await core.idle()
    for vid, flow in flows.items():
        assert await core.read(flow, 300) == data[vid]


@cocotb.test()
async def an_active_open_asks_on_its_vlan_and_connects_there(dut: Any) -> None:
    core = await on_vlans(dut, knows_peer=False)
    vid, priority = OURS[3]
    core.connect(port=80, request=1, vlan=3)
    request, raw = await sent(core)
    assert (request.dst, request[Dot1Q].vlan, request[Dot1Q].prio) == (BROADCAST, vid, priority)
    assert (request[ARP].op, request[ARP].pdst, request[ARP].psrc) == (1, PEER_IP, CORE_IP)
    assert len(raw) == 64, "60 bytes and the tag"
    reply = ARP(op=2, hwsrc=PEER_MAC, psrc=PEER_IP, hwdst=CORE_MAC, pdst=CORE_IP)
    # An entry of another network for that address does not count.
    core.wire_in.put(bytes(Ether(src=BROADCAST, dst=CORE_MAC) / reply).ljust(60, b"\0"), user=core.stamp)
    core.wire_in.put(
        bytes(Ether(src=PEER_MAC, dst=CORE_MAC) / Dot1Q(vlan=OURS[1][0]) / reply).ljust(60, b"\0"), user=core.stamp
    )
    await core.idle()
    assert core.wire_out.stream.pending() == []
    core.wire_in.put(bytes(Ether(src=PEER_MAC, dst=CORE_MAC) / Dot1Q(vlan=vid) / reply), user=core.stamp)
    peer = Peer(core, port=80, vlan=vid)
    await peer.accept_connection()
    established = await core.notified_of("established")
    assert (established["addresses_vlan"], established["addresses_request"]) == (3, 1)


@cocotb.test()
async def an_open_names_the_network_of_its_neighbour(dut: Any) -> None:
    """Untagged unless it says so; a place of the table that is empty is no network."""
    core = await on_vlans(dut)
    core.know(PEER_IP, PEER_MAC, vlan=1)
    core.connect(port=81, request=1)
    await Peer(core, port=81).accept_connection()
    core.connect(port=82, request=2, vlan=1)
    await Peer(core, port=82, vlan=OURS[1][0]).accept_connection()
    core.connect(port=83, request=3, vlan=UNUSED)
    while not (note := await core.notified())["refused"]:
        assert note["addresses_request"] != 3
    assert (note["addresses_request"], note["reason"]) == (3, "unreachable")


@cocotb.test()
async def a_reset_bears_the_tag_and_other_vlans_take_the_bypass(dut: Any) -> None:
    core = await on_vlans(dut)
    for place, (vid, priority) in OURS.items():
        peer = Peer(core, port=3000 + place, core_port=9, vlan=vid)
        peer.send("S")
        packet, raw = await sent(core)
        assert (packet[Dot1Q].vlan, packet[Dot1Q].prio, packet[TCP].flags) == (vid, priority, "RA")
        assert len(raw) == 64
    for number_of, tags in enumerate((Dot1Q(vlan=OTHER), Dot1Q(vlan=OURS[1][0]) / Dot1Q(vlan=OURS[1][0])), 1):
        frame = bytes(
            Ether(src=PEER_MAC, dst=CORE_MAC) / tags / IP(src=PEER_IP, dst=CORE_IP) / TCP(dport=80, flags="S")
        ).ljust(60, b"\0")
        core.wire_in.put(frame, user=core.stamp)
        assert (await core.bypass_out.receive()).data == frame
        await core.idle()
        assert int(dut.counters_otherVlan.value) == number_of
    assert core.wire_out.stream.pending() == []


@cocotb.test()
async def arp_and_echo_requests_are_answered_on_their_vlan(dut: Any) -> None:
    core = await on_vlans(dut)
    draw = generator()
    for vid, priority in OURS.values():
        tag = Dot1Q(vlan=vid, prio=1)
        request = Ether(src=PEER_MAC, dst=BROADCAST) / tag / ARP(hwsrc=PEER_MAC, psrc="10.0.0.9", pdst=CORE_IP)
        core.wire_in.put(bytes(request).ljust(60, b"\0"), user=core.stamp)
        reply, _ = await sent(core)
        assert (reply.dst, reply[Dot1Q].vlan, reply[Dot1Q].prio) == (PEER_MAC, vid, priority)
        assert (reply[ARP].op, reply[ARP].hwsrc, reply[ARP].psrc) == (2, CORE_MAC, CORE_IP)
        # All lengths modulo eight, as the tag moves each byte by four.
        for length in range(50, 58):
            data = draw.randbytes(length)
            ping = IP(src=PEER_IP, dst=CORE_IP) / ICMP(id=length, seq=vid) / Raw(data)
            core.wire_in.put(bytes(Ether(src=PEER_MAC, dst=CORE_MAC) / tag / ping), user=core.stamp)
            echo, _ = await sent(core)
            assert (echo.dst, echo[Dot1Q].vlan, echo[ICMP].type) == (PEER_MAC, vid, 0)
            assert (echo[ICMP].id, echo[ICMP].seq, bytes(echo[Raw])) == (length, vid, data)
            right = Ether(bytes(echo))
            del right[IP].chksum, right[ICMP].chksum
            assert bytes(right) == bytes(echo), "both checksums"
    assert core.bypass_out.stream.pending() == []
