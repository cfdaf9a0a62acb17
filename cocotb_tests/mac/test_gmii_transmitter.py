# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The wire out: preamble, padding, FCS and gap as IEEE 802.3 has them; stamps come back with their tags."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.gmii import GAP, padded
from cocotb_tests.mac.mac import LARGEST, PERIOD_PS, Mac


def test_gmii_transmitter() -> None:
    run_module("GmiiMac", __name__, random_power_up=True)


@cocotb.test()
@cocotb.parametrize(core=[PERIOD_PS, 10_000, 6_500], transmit=[PERIOD_PS - 1, PERIOD_PS + 1])
async def frames_of_every_length_leave_padded_and_checked(dut: Any, core: int, transmit: int) -> None:
    mac = Mac(dut, core=core, transmit=transmit)
    await mac.start()
    random = generator()
    lengths = (*range(1, 18), *range(58, 70), 1000, LARGEST - 1, LARGEST)
    frames = [random.randbytes(length) for length in lengths]
    for frame in frames:
        mac.send(frame)
    for frame in frames:
        departed = await mac.wire_out.receive()
        assert departed.frame == padded(frame)
        assert departed.fcs_right
    await ClockCycles(dut.clk, 100)
    assert mac.counters("transmit") == {"frames": len(frames)}
    assert mac.departures.count == 0


@cocotb.test()
async def waiting_frames_follow_each_other_after_a_gap_of_twelve_bytes(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    random = generator()
    frames = [random.randbytes(random.choice([14, 60, 61, 63, 64, 65, 200])) for _ in range(40)]
    for frame in frames:
        mac.send(frame)
    gaps = [(await mac.wire_out.receive()).gap for _ in frames]
    assert gaps[1:] == [GAP] * (len(frames) - 1)


@cocotb.test()
async def a_tagged_frame_returns_its_stamp(dut: Any) -> None:
    mac = Mac(dut, transmit=PERIOD_PS + 1)
    await mac.start()
    random = generator()
    tags = [random.choice([0, random.randrange(1, 1 << 16)]) for _ in range(30)]
    for tag in tags:
        mac.send(random.randbytes(random.randrange(60, 120)), tag=tag)
    origin = None
    for tag in tags:
        departed = await mac.wire_out.receive()
        if not tag:
            continue
        returned, stamp = await mac.departure()
        assert returned == tag
        # A clock counts eight nanoseconds, whatever it lasts: SFD on the pins and stamp keep their difference exactly.
        clocks, remainder = divmod(departed.sfd_ps, PERIOD_PS + 1)
        offset = stamp - (clocks * 8 << 16)
        assert origin in (None, (offset, remainder))
        origin = (offset, remainder)
    assert mac.departures.beats.empty()


@cocotb.test()
async def an_oversize_frame_is_counted_and_dropped(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    random = generator()
    tagged = bytes(Ether() / Dot1Q(vlan=5) / IP() / TCP() / Raw(bytes(20000)))
    too_large = [
        random.randbytes(LARGEST + 1),
        random.randbytes(LARGEST + 7),
        random.randbytes(1600),
        random.randbytes(30000),
    ]
    too_large += [
        tagged[: LARGEST + 5],
        tagged[:17000],
        random.randbytes(12) + b"\x81\x01" + random.randbytes(LARGEST - 10),
    ]
    for frame in too_large:
        good = random.randbytes(random.randrange(60, 90))
        mac.send(frame, mode=random.randrange(3))
        mac.send(good)
        departed = await mac.wire_out.receive()
        assert departed.frame == good
    mac.send(tagged[: LARGEST + 4])
    assert (await mac.wire_out.receive()).frame == tagged[: LARGEST + 4]
    await ClockCycles(dut.clk, 20)
    assert mac.counters("transmit") == {"frames": len(too_large) + 1, "oversize": len(too_large)}
