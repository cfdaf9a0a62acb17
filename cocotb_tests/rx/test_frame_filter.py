# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The frame filter and the bypass: what is not ours leaves byte for byte, and never in our way."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_room
from cocotb_tests.rx.packets import LARGEST, LOCAL_IP, LOCAL_MAC, any_good, frame
from cocotb_tests.rx.receiver import Receiver


def test_frame_filter() -> None:
    run_room("Receiver", __name__)


def foreign(draw: Random) -> bytes:
    """A frame that is not ours, by one thing or by many."""
    to_us = Ether(dst=LOCAL_MAC, src="02:00:00:00:00:05")
    body = Raw(draw.randbytes(draw.choice([0, 1, 7, 30, 200, draw.randrange(1400)])))
    packet = draw.choice(
        [
            Ether(dst="ff:ff:ff:ff:ff:ff") / ARP(pdst=LOCAL_IP),
            to_us / ARP(op=2, pdst=LOCAL_IP),
            to_us / IP(dst=LOCAL_IP) / UDP(dport=53) / body,
            to_us / IP(dst=LOCAL_IP) / ICMP() / body,
            to_us / IP(dst="10.1.2.2") / TCP() / body,
            to_us / IPv6(dst="fe80::1") / TCP() / body,
            to_us / Dot1Q(vlan=2) / IP(dst="11.1.2.3") / TCP() / body,
            to_us / Dot1Q(vlan=2) / Dot1Q(vlan=3) / IP(dst=LOCAL_IP) / TCP() / body,
            to_us / Dot1Q(vlan=2) / ARP(pdst=LOCAL_IP),
            Ether(dst="02:0b:ea:70:00:02") / IP(dst=LOCAL_IP) / TCP() / body,
            Ether(dst="ff:ff:ff:ff:ff:ff") / IP(dst=LOCAL_IP) / TCP() / body,
            Ether(dst="01:1b:19:00:00:00", type=0x88F7) / body,
        ]
    )
    raw = bytes(packet)
    # Runts too: a TAP pads nothing, and a frame that ends early is nobody's.
    return raw[: draw.randrange(1, 34)] if draw.random() < 0.2 else raw


@cocotb.test()
@cocotb.parametrize(gaps=[0.0, 0.3], stall=[0.0, 0.3])
async def what_is_not_ours_takes_the_bypass_byte_for_byte(dut: Any, gaps: float, stall: float) -> None:
    receiver = Receiver(dut, gaps=gaps, stall=stall)
    await receiver.start()
    random = generator()
    for _ in range(100):
        frames = [(random.random() < 0.3, random) for _ in range(6)]
        made = [(ours, any_good(draw, longest=120) if ours else foreign(draw)) for ours, draw in frames]
        receiver.put(*(raw for _, raw in made))
        for ours, raw in made:
            if ours:
                receiver.free(await receiver.expect(raw))
            else:
                found = await receiver.bypass.receive()
                assert found.data == raw
                assert found.extras["error"] == 0
    await receiver.settle()
    assert receiver.drops() == {}


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
    # And there is room again.
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
    await cocotb.triggers.ClockCycles(dut.clk, 10)
    lost = receiver.drops()["bypassOverflow"]
    receiver.bypass.stream.stall = 0.0
    arrived = [(await receiver.bypass.receive()).data for _ in range(len(frames) - lost)]
    assert arrived == frames[: len(arrived)]
    assert len(arrived) >= 30
