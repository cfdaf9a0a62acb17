# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The wire in: good frames arrive byte for byte; each bad one is counted by its cause and harms no other."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from cocotb_tests.bench import generator, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.gmii import PREAMBLE, SFD, fcs
from cocotb_tests.mac.mac import LARGEST, PERIOD_PS, Mac


def test_gmii_receiver() -> None:
    run_module("GmiiMac", __name__, random_power_up=True)


def frame_of(random: Random, length: int, *, tagged: bool = False) -> bytes:
    """A TCP segment in a frame of so many bytes without FCS."""
    packet = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    if tagged:
        packet = packet / Dot1Q(vlan=random.randrange(1, 4095))
    raw = bytes(packet / IP(dst="10.0.0.1") / TCP() / Raw(random.randbytes(length)))
    return raw[:length]


async def arrives(mac: Mac, frame: bytes) -> None:
    received = await mac.receive.receive()
    assert received.data == frame
    assert received.extras["error"] == 0


@cocotb.test()
@cocotb.parametrize(core=[PERIOD_PS, 10_000, 6_500], receive=[PERIOD_PS - 1, PERIOD_PS + 1])
async def frames_of_every_length_arrive(dut: Any, core: int, receive: int) -> None:
    mac = Mac(dut, core=core, receive=receive)
    await mac.start()
    random = generator()
    frames = [frame_of(random, length) for length in (*range(60, 77), 127, 128, 129, 1000, LARGEST - 1, LARGEST)]
    frames.append(frame_of(random, LARGEST + 4, tagged=True))
    for frame in frames:
        mac.wire_in.put(frame)
    for frame in frames:
        await arrives(mac, frame)
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": len(frames)}


@cocotb.test()
async def back_to_back_smallest_frames_all_arrive(dut: Any) -> None:
    mac = Mac(dut, receive=PERIOD_PS - 1)
    await mac.start()
    random = generator()
    frames = [random.randbytes(60) for _ in range(150)]
    for frame in frames:
        mac.wire_in.put(frame)
    for frame in frames:
        await arrives(mac, frame)


@cocotb.test()
async def an_idle_wire_gives_nothing(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    await ClockCycles(dut.clk, 500)
    mac.wire_in.put_raw(b"\x55" * 30)  # carrier without SFD
    mac.wire_in.put_raw(bytes(range(60)), errors=frozenset(range(60)))  # false carrier
    await mac.wire_done()
    assert mac.counters("receive") == {}
    assert mac.receive.stream.count == 0


@cocotb.test()
@cocotb.parametrize(preamble=[0, 1, 6, 8, 20])
async def a_preamble_of_any_length_will_do(dut: Any, preamble: int) -> None:
    mac = Mac(dut)
    await mac.start()
    frames = [generator().randbytes(64) for _ in range(3)]
    for frame in frames:
        mac.wire_in.put(frame, preamble=b"\x55" * preamble, gap=5)
    for frame in frames:
        await arrives(mac, frame)


def damaged(mac: Mac, frame: bytes, position: int, bit: int) -> None:
    broken = bytearray(frame)
    broken[position] ^= 1 << bit
    mac.wire_in.put(bytes(broken), check=fcs(frame))


CAUSES: dict[str, list[Callable[[Mac, Random], object]]] = {
    "badFcs": [
        lambda mac, random: damaged(mac, random.randbytes(60), random.randrange(60), random.randrange(8)),
        lambda mac, random: damaged(mac, random.randbytes(LARGEST), random.randrange(LARGEST), random.randrange(8)),
        lambda mac, random: mac.wire_in.put(random.randbytes(100), check=random.randbytes(4)),
        lambda mac, random: mac.wire_in.put(random.randbytes(100), check=b""),  # cut
    ],
    "rxError": [
        lambda mac, random: mac.wire_in.put(random.randbytes(100), errors=frozenset({random.randrange(112)})),
        lambda mac, random: mac.wire_in.put(random.randbytes(60), errors=frozenset({71})),  # the last byte
        lambda mac, random: mac.wire_in.put(random.randbytes(60), errors=frozenset({0})),  # the preamble's first
        lambda mac, random: mac.wire_in.put(random.randbytes(20), errors=frozenset({15})),  # a runt too
    ],
    "runt": [
        lambda mac, random: mac.wire_in.put(random.randbytes(59)),
        lambda mac, random: mac.wire_in.put(random.randbytes(random.randrange(1, 59))),
        lambda mac, random: mac.wire_in.put(b"", check=b""),
        lambda mac, random: mac.wire_in.put(b"", check=b"\x01"),
    ],
    "oversize": [
        lambda mac, random: mac.wire_in.put(frame_of(random, LARGEST + 1)),
        lambda mac, random: mac.wire_in.put(frame_of(random, LARGEST + 4)),
        lambda mac, random: mac.wire_in.put(frame_of(random, LARGEST + 5, tagged=True)),
        lambda mac, random: mac.wire_in.put(frame_of(random, 5000)),
        lambda mac, random: mac.wire_in.put(frame_of(random, 20000, tagged=True)),
    ],
    "pause": [
        # IEEE 802.3 annex 31B: to the reserved group address, opcode 1, the time in 512 bits.
        lambda mac, random: mac.wire_in.put(
            (bytes(Ether(dst="01:80:c2:00:00:01", type=0x8808)) + struct.pack(">HH", 1, 0xFFFF)).ljust(60, b"\0")
        ),
    ],
}


@cocotb.test()
@cocotb.parametrize(cause=list(CAUSES))
async def a_bad_frame_is_counted_by_its_cause_and_the_next_arrives(dut: Any, cause: str) -> None:
    mac = Mac(dut, receive=PERIOD_PS + 1)
    await mac.start()
    random = generator()
    rounds = 3
    for make in CAUSES[cause] * rounds:
        make(mac, random)
        good = random.randbytes(random.randrange(60, 200))
        sent = mac.wire_in.put(good)
        received = await mac.receive.receive(40_000)
        assert received.data == good and sent.sfd_ps
    await mac.wire_done()
    count = rounds * len(CAUSES[cause])
    assert mac.counters("receive") == {"frames": count, cause: count}


@cocotb.test()
async def a_frame_goes_on_while_it_comes(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    mac.wire_in.put(generator().randbytes(LARGEST))
    await until(dut, lambda: mac.receive.stream.count > 0, "its first beat", 80)
    assert not mac.wire_in.idle


@cocotb.test()
async def damaged_frames_are_passed_on_as_such_and_others_of_the_mac_alone_stay(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    random = generator()
    for _ in range(3):
        CAUSES["pause"][0](mac, random)
        good = random.randbytes(random.randrange(60, 200))
        mac.wire_in.put(good)
        received = await mac.receive.receive_any()
        assert received.data == good and not received.extras["error"]
        mac.wire_in.put(good, check=bytes(4))
        assert (await mac.receive.receive_any()).extras["error"]
    dut.linkUp.value = 0
    mac.wire_in.put(bytes(60))
    await mac.wire_done()
    assert mac.receive.stream.beats.empty()


@cocotb.test()
async def fragments_without_a_gap_harm_nobody(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    random = generator()
    for _ in range(20):
        fragments = random.randrange(1, 6)
        for _ in range(fragments):
            mac.wire_in.put_raw(bytes([SFD]) + random.randbytes(random.randrange(3)), gap=1)
        good = random.randbytes(60)
        mac.wire_in.put(good, preamble=PREAMBLE[: random.randrange(8)])
        await arrives(mac, good)


@cocotb.test()
async def a_stalled_core_loses_whole_frames_and_counts_them(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    mac.receive.stream.stall = 1.0
    random = generator()
    frames = [random.randbytes(random.choice([60, 64, 500, LARGEST])) for _ in range(40)]
    for frame in frames:
        mac.wire_in.put(frame)
    await mac.wire_done()
    lost = mac.counters("receive")["overflow"]
    assert 0 < lost < len(frames) - 4
    mac.receive.stream.stall = 0.3
    arrived = [(await mac.receive.receive()).data for _ in range(len(frames) - lost)]
    left = iter(frames)
    assert all(frame in left for frame in arrived), "in order, each whole"
    # And there is space again.
    for frame in frames[:4]:
        mac.wire_in.put(frame)
        await arrives(mac, frame)
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": len(frames) - lost + 4, "overflow": lost}


@cocotb.test()
async def many_small_frames_are_kept_or_counted_while_the_core_stalls(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    mac.receive.stream.stall = 1.0
    frames = [generator().randbytes(60) for _ in range(200)]
    for frame in frames:
        mac.wire_in.put(frame)
    await mac.wire_done()
    lost = mac.counters("receive")["overflow"]
    mac.receive.stream.stall = 0.0
    arrived = [(await mac.receive.receive()).data for _ in range(len(frames) - lost)]
    assert len(arrived) >= 64 and arrived == frames[: len(arrived)]


@cocotb.test()
async def good_and_bad_at_random_with_stalls(dut: Any) -> None:
    mac = Mac(dut, stall=0.4, core=10_000, receive=PERIOD_PS - 1)
    await mac.start()
    random = generator()
    expected: dict[str, int] = {}
    good = []
    for _ in range(60):
        if random.random() < 0.5:
            cause = random.choice([cause for cause in CAUSES if cause != "oversize"])
            random.choice(CAUSES[cause])(mac, random)
            expected[cause] = expected.get(cause, 0) + 1
        else:
            good.append(random.randbytes(random.randrange(60, 300)))
            mac.wire_in.put(good[-1])
    for frame in good:
        await arrives(mac, frame)
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": len(good), **expected}
