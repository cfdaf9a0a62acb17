# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Frames behind tags (802.1Q): those of our VLANs are taken with the VLAN's number, all others take the bypass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cocotb
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw

from cocotb_tests.addresses import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC, VLANS
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.rx.packets import any_good
from cocotb_tests.rx.receiver import Receiver

OURS = {identifier: place for place, (identifier, _) in enumerate(VLANS, 1) if identifier}
BROADCAST = "ff:ff:ff:ff:ff:ff"
# One bit or one place away from a VLAN of ours, and the ends of the range.
OTHERS = sorted({1, 2, 4095, *(vlan ^ 1 << bit for vlan in OURS for bit in range(12))} - {0, *OURS})


@each_width
def test_vlans(width: int) -> None:
    run_width("Receiver", __name__, width)


def to_us(*tags: Packet, mac: str = CORE_MAC) -> Packet:
    packet: Packet = Ether(src=PEER_MAC, dst=mac)
    for tag in tags:
        packet /= tag
    return packet


@cocotb.test()
@cocotb.parametrize(gaps=[0.0, 0.3])
async def a_segment_of_our_vlan_is_taken_with_its_number(dut: Any, gaps: float) -> None:
    receiver = Receiver(dut, gaps=gaps)
    await receiver.start()
    draw = receiver.random
    vlans = [draw.choice((0, *OURS)) for _ in range(60)]
    for at in range(0, len(vlans), 6):
        made = [(any_good(draw, longest=200, vlan=vlan), vlan) for vlan in vlans[at : at + 6]]
        receiver.put(*(raw for raw, _ in made))
        for raw, vlan in made:
            segment = await receiver.expect(raw)
            assert segment["vlan"] == OURS.get(vlan, 0), "VID 0 gives a priority, and names no VLAN (802.1Q 6.9)"
            receiver.free(segment)
    await receiver.settle()
    assert receiver.drops() == {}
    assert dut.otherVlan.value == 0


@cocotb.test()
@cocotb.parametrize(gaps=[0.0, 0.3])
async def other_vlans_and_two_tags_take_the_bypass_and_are_counted(dut: Any, gaps: float) -> None:
    receiver = Receiver(dut, gaps=gaps)
    await receiver.start()
    draw = receiver.random

    def ours() -> Packet:
        return Dot1Q(vlan=draw.choice(list(OURS)))

    def other() -> Packet:
        return Dot1Q(vlan=draw.choice(OTHERS))

    tcp = IP(src=PEER_IP, dst=CORE_IP) / TCP(sport=9, dport=80) / Raw(b"data")
    kinds: list[tuple[int, Callable[[], Packet]]] = [
        (1, lambda: to_us(other()) / tcp),
        (1, lambda: to_us(other()) / IP(src=PEER_IP, dst=CORE_IP) / ICMP(id=draw.getrandbits(16))),
        (1, lambda: to_us(other()) / ARP(pdst=CORE_IP)),
        (1, lambda: to_us(ours(), ours()) / tcp),
        (1, lambda: to_us(ours(), other()) / tcp),
        (1, lambda: to_us(Dot1Q(vlan=0), ours()) / tcp),
        (0, lambda: to_us(Dot1AD(vlan=100), ours()) / tcp),  # an S-tag: nothing that this filter looks into
        (0, lambda: to_us(ours()) / IP(src=PEER_IP, dst=CORE_IP) / UDP(dport=53)),
        (0, lambda: to_us(ours()) / IP(src=PEER_IP, dst="10.0.0.9") / TCP()),
        (0, lambda: to_us(Dot1Q(vlan=0)) / ARP(pdst=CORE_IP)),
        (0, lambda: to_us(Dot1Q(vlan=0)) / IP(src=PEER_IP, dst=CORE_IP) / ICMP()),
        (0, lambda: to_us(other(), mac="02:00:00:00:00:77") / tcp),
        (0, lambda: to_us(other(), mac=BROADCAST) / ARP(pdst=CORE_IP)),
    ]
    counted = 0
    for _ in range(8):
        for count, kind in draw.sample(kinds, len(kinds)):
            raw = bytes(kind()).ljust(60, b"\0")
            receiver.put(raw)
            counted += count
            assert (await receiver.bypass.receive()).data == raw
        segment = any_good(draw, longest=120, vlan=100)
        receiver.put(segment)
        receiver.free(await receiver.expect(segment))
    await receiver.settle()
    assert receiver.control.stream.pending() == [] and receiver.segments.pending() == []
    assert receiver.drops() == {}
    assert dut.otherVlan.value == counted


@cocotb.test()
async def arp_and_icmp_of_our_vlans_go_to_the_neighbour_module(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    draw = receiver.random
    ping = IP(src=PEER_IP, dst=CORE_IP) / ICMP(id=7) / Raw(b"ping")
    error = IP(src=PEER_IP, dst=CORE_IP) / ICMP(type=3, code=1) / Raw(bytes(28))
    for vlan in OURS:
        tag = Dot1Q(vlan=vlan, prio=draw.randrange(8))
        cases = [
            (to_us(tag, mac=BROADCAST) / ARP(pdst=CORE_IP, psrc=PEER_IP), True, False),
            (to_us(tag, mac=BROADCAST) / ARP(pdst="10.0.0.9", psrc=PEER_IP), True, True),
            (to_us(tag) / ARP(op=2, psrc=PEER_IP, pdst=CORE_IP), True, True),
            (to_us(tag) / ping, False, False),
            (to_us(tag) / error, False, True),
        ]
        for packet, is_arp, bypassed in cases:
            raw = bytes(packet).ljust(60, b"\0")
            receiver.put(raw)
            frame = await receiver.control.receive()
            assert (frame.data, frame.extras["frame_vlan"], frame.extras["isArp"]) == (raw, OURS[vlan], is_arp)
            if bypassed:
                assert (await receiver.bypass.receive()).data == raw
    await receiver.settle()
    assert receiver.bypass.stream.pending() == [] and receiver.control.stream.pending() == []
    assert dut.otherVlan.value == 0


@cocotb.test()
async def without_a_configured_vlan_all_take_the_bypass(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    for place in range(len(VLANS)):
        getattr(dut, f"vlans_{place}_identifier").value = 0
    for vlan in OURS:
        raw = any_good(receiver.random, longest=120, vlan=vlan)
        receiver.put(raw)
        assert (await receiver.bypass.receive()).data == raw
    raw = any_good(receiver.random, longest=120)
    receiver.put(raw)
    receiver.free(await receiver.expect(raw))
    await receiver.settle()
    assert receiver.drops() == {}
    assert dut.otherVlan.value == len(OURS)
