# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The frame filter, bypass and control: what is not ours leaves byte for byte, and never in our way."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import cocotb
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Padding, Raw

from cocotb_tests.addresses import CORE_IP, CORE_MAC
from cocotb_tests.bench import clocks, generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.rx.packets import LARGEST, any_good, frame
from cocotb_tests.rx.receiver import Receiver


@each_width
def test_frame_filter(width: int) -> None:
    run_width("Receiver", __name__, width)


def foreign(draw: Random) -> bytes:
    """A frame that is not ours, by one thing or by many."""
    to_us = Ether(dst=CORE_MAC, src="02:00:00:00:00:05")
    body = Raw(draw.randbytes(draw.choice([0, 1, 7, 30, 200, draw.randrange(900)])))
    to_all = Ether(dst="ff:ff:ff:ff:ff:ff")
    other = Ether(dst="02:0b:ea:70:00:02")
    kinds: list[Callable[[], Packet]] = [
        lambda: to_all / ARP(pdst=CORE_IP),
        lambda: to_us / ARP(pdst=CORE_IP) / Padding(bytes(18)),
        lambda: to_all / ARP(pdst="10.1.2.4") / Padding(bytes(18)),
        lambda: to_us / ARP(op=2, pdst=CORE_IP),
        lambda: other / ARP(pdst=CORE_IP),
        lambda: to_us / IP(dst=CORE_IP) / UDP(dport=53) / body,
        lambda: to_us / IP(dst=CORE_IP) / ICMP(type=draw.choice([8, 8, 8, 0, 3, 4, 5, 11, 12, 13])) / body,
        lambda: (
            to_us / IP(dst=CORE_IP, flags=draw.choice([0, "MF", "DF"]), frag=draw.choice([0, 0, 5])) / ICMP() / body
        ),
        lambda: to_us / IP(dst=CORE_IP, options=b"\1\1\1\1") / ICMP() / body,
        lambda: to_us / IP(dst="10.1.2.255") / ICMP() / body,
        lambda: to_all / IP(dst=CORE_IP) / ICMP() / body,
        lambda: other / IP(dst=CORE_IP) / ICMP() / body,
        lambda: to_us / Dot1Q(vlan=2) / IP(dst=CORE_IP) / ICMP() / body,
        lambda: to_us / IP(dst="10.1.2.2") / TCP() / body,
        lambda: to_us / IPv6(dst="fe80::1") / TCP() / body,
        lambda: to_us / Dot1Q(vlan=2) / IP(dst="11.1.2.3") / TCP() / body,
        lambda: to_us / Dot1Q(vlan=1 << draw.randrange(12)) / IP(dst=CORE_IP) / TCP() / body,
        lambda: to_us / Dot1Q(vlan=0, prio=draw.randrange(8)) / IP(dst=CORE_IP) / ICMP() / body,
        lambda: to_us / Dot1Q(vlan=2) / Dot1Q(vlan=3) / IP(dst=CORE_IP) / TCP() / body,
        lambda: to_us / Dot1Q(vlan=2) / ARP(pdst=CORE_IP),
        lambda: other / IP(dst=CORE_IP) / TCP() / body,
        lambda: to_all / IP(dst=CORE_IP) / TCP() / body,
        lambda: Ether(dst="01:1b:19:00:00:00", type=0x88F7) / body,
    ]
    packet = draw.choice(kinds)()
    raw = bytes(packet)
    # Runts too: a TAP pads nothing, and a frame that ends early is for no module. But noise behind its end may be an
    # EtherType.
    return raw[: draw.choice([*range(1, 9), *range(14, 34)])] if draw.random() < 0.2 else raw


def ways(raw: bytes) -> tuple[bool, bool]:
    """Whether such a frame takes the bypass, and whether it goes to control: what we answer goes there alone."""
    packet = Ether(raw.ljust(60, b"\0"))
    kind, to_us = raw[12:14], packet.dst == CORE_MAC
    if kind == b"\x08\x06" and (to_us or packet.dst == "ff:ff:ff:ff:ff:ff"):
        return not (len(raw) >= 42 and packet[ARP].op == 1 and packet[ARP].pdst == CORE_IP), True
    if kind != b"\x08\x00" or len(raw) < 35 or not to_us:
        return True, False
    ip = packet[IP]
    if (ip.dst, ip.proto, ip.ihl, ip.frag, "MF" in ip.flags) != (CORE_IP, 1, 5, 0, False):
        return True, False
    return raw[34] != 8, raw[34] in (3, 8, 11, 12)


@cocotb.test()
@cocotb.parametrize(gaps=[0.0, 0.3], stall=[0.0, 0.3])
async def a_frame_for_others_takes_the_bypass_byte_for_byte(dut: Any, gaps: float, stall: float) -> None:
    receiver = Receiver(dut, gaps=gaps, stall=stall)
    await receiver.start()
    random = generator()
    for _ in range(50):
        kinds = [random.random() < 0.3 for _ in range(6)]
        made = [(ours, any_good(random, longest=120) if ours else foreign(random)) for ours in kinds]
        receiver.put(*(raw for _, raw in made))
        for ours, raw in made:
            if ours:
                receiver.free(await receiver.expect(raw))
                continue
            bypassed, controls = ways(raw)
            if bypassed:
                found = await receiver.bypass.receive()
                assert found.data == raw
                assert found.extras["error"] == 0
            if controls:
                frame = await receiver.control.receive()
                assert frame.data == raw
                assert frame.extras["isArp"] == (raw[12:14] == b"\x08\x06")
    await receiver.settle()
    assert receiver.drops() == {}
    for sink in (receiver.bypass.stream, receiver.control.stream):
        assert sink.pending() == []


@cocotb.test()
async def control_that_nobody_takes_is_counted_and_stops_nothing(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    receiver.control.stream.stall = 1.0
    requests = [bytes(Ether(dst=CORE_MAC) / ARP(pdst=CORE_IP, psrc=f"10.1.2.{n}")).ljust(60, b"\0") for n in range(100)]
    for n, request in enumerate(requests):
        ours = frame(b"ours", tcp={"seq": n})
        receiver.put(request, ours)
        receiver.free(await receiver.expect(ours))
    lost = receiver.drops()["controlOverflow"]
    assert receiver.drops() == {"controlOverflow": lost}
    receiver.control.stream.stall = 0.0
    await receiver.settle()
    arrived = [(await receiver.control.receive()).data for _ in range(len(requests) - lost)]
    assert arrived == requests[: len(arrived)]
    assert len(arrived) >= 30


@cocotb.test()
async def a_stalled_bypass_holds_whole_frames_and_never_our_own(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    receiver.bypass.stream.stall = 1.0
    random = generator()
    sent = []
    for n in range(150):
        stranger = frame(random.randbytes(random.randrange(400)), ether={"dst": "02:00:00:00:00:77"})
        ours = frame(b"ours", tcp={"seq": n})
        sent.append(stranger)
        receiver.put(stranger, ours)
        receiver.free(await receiver.expect(ours))
    lost = receiver.drops()["bypassOverflow"]
    assert receiver.drops() == {"bypassOverflow": lost}
    receiver.bypass.stream.stall = 0.0
    await receiver.settle()
    arrived = [(await receiver.bypass.receive()).data for _ in range(len(sent) - lost)]
    assert receiver.bypass.stream.pending() == []
    # In order, each whole: what is missing was counted.
    left = iter(sent)
    assert all(raw in left for raw in arrived)
    assert len(arrived) >= 2 * LARGEST // 400
    # And there is space again.
    receiver.put(sent[0])
    assert (await receiver.bypass.receive()).data == sent[0]


@cocotb.test()
async def the_bypass_takes_many_small_frames_or_counts_them(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    receiver.bypass.stream.stall = 1.0
    frames = [bytes([n]) for n in range(1, 100)]
    receiver.put(*frames)
    await receiver.wire.drained()
    await clocks(dut, 30)  # two may be on their way, with wide beats six clocks each
    lost = receiver.drops()["bypassOverflow"]
    receiver.bypass.stream.stall = 0.0
    arrived = [(await receiver.bypass.receive()).data for _ in range(len(frames) - lost)]
    assert arrived == frames[: len(arrived)]
    assert len(arrived) >= 30
