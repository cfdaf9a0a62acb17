# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The wire out at 10 Gb/s: every length whole, gaps by the deficit idle count, launches on the grid of 3.2 ns, stamps
exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.gmii import GAP, Departed, padded
from cocotb_tests.mac.mac import AFTER_PREVIOUS, AT, LARGEST, XgmiiMac

PERIOD_PS = XgmiiMac.period_ps
SLOT_PS = PERIOD_PS // 2
SLOT_BYTES = 4
OVERHEAD = 24  # preamble, SFD, FCS, gap


def test_xgmii_transmitter() -> None:
    run_module("XgmiiMac", __name__, random_power_up=True)


def gaps_by_deficit(frames: Sequence[bytes]) -> list[int]:
    """IEEE 802.3 46.3.1.4: the gap behind each frame; up to three bytes are deleted and owed, more are never owed."""
    gaps, deficit = [], 0
    for frame in frames:
        over = (len(padded(frame)) + OVERHEAD) % SLOT_BYTES
        if deficit + over < SLOT_BYTES:
            deficit += over
            gaps.append(GAP - over)
        else:
            deficit -= SLOT_BYTES - over
            gaps.append(GAP + SLOT_BYTES - over)
    return gaps


async def departed(mac: XgmiiMac, count: int) -> list[Departed]:
    return [await mac.wire_out.receive() for _ in range(count)]


@cocotb.test()
@cocotb.parametrize(transmit=[PERIOD_PS - 1, PERIOD_PS + 1])
async def frames_of_every_length_leave_padded_at_line_rate(dut: Any, transmit: int) -> None:
    mac = XgmiiMac(dut, transmit=transmit, core=PERIOD_PS - 1)
    await mac.start()
    data = generator().randbytes(2 * LARGEST)
    lengths = [*range(1, 18), *range(50, 140), *range(LARGEST - 8, LARGEST + 1)]  # sim/bench/ten has them all
    frames = [data[length : 2 * length] for length in lengths]
    for frame in frames:
        mac.send(frame)
    left = await departed(mac, len(frames))
    for frame, seen in zip(frames, left, strict=True):
        assert seen.frame == padded(frame) and seen.fcs_right
    assert [seen.gap for seen in left[1:]] == gaps_by_deficit(frames)[:-1]
    await ClockCycles(dut.clk, 50)
    assert mac.counters("transmit") == {"frames": len(frames)}


@cocotb.test()
async def idle_time_pays_what_the_deficit_owes(dut: Any) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    random = generator()
    for _ in range(6):
        frames = [random.randbytes(random.choice([60, 61, 62, 63])) for _ in range(7)]
        for frame in frames:
            mac.send(frame)
        left = await departed(mac, len(frames))
        assert [seen.gap for seen in left[1:]] == gaps_by_deficit(frames)[:-1]
        await ClockCycles(dut.clk, 40 + random.randrange(4))


@cocotb.test()
async def a_frame_leaves_in_the_first_slot_at_or_after_its_launch(dut: Any) -> None:
    """The time at the pins follows from the first departure: no other frame may leave before its launch, or later than
    in the slot behind it."""
    mac = XgmiiMac(dut)
    await mac.start()
    random = generator()
    mac.send(bytes(60), tag=1)
    origin = (await departed(mac, 1))[0].sfd_ps
    stamp = (await mac.departure())[1]
    launch = mac.now + (2000 << 16)
    launches = []
    for _ in range(40):
        launch += (84 * 8 << 16) // 10 + random.randrange(200 << 16)
        launches.append(launch)
        mac.send(random.randbytes(60), mode=AT, launch=launch, tag=2)
    for launch in launches:
        at_ps = (await departed(mac, 1))[0].sfd_ps
        returned = (await mac.departure())[1]
        wanted_ps = (launch - stamp) / 65536 * 1000
        assert -0.1 <= at_ps - origin - wanted_ps < SLOT_PS
        # Stamps are cut to 2^-16 ns, here and at the origin.
        assert abs((returned - stamp) / 65.536 - (at_ps - origin)) < 0.05
    await ClockCycles(dut.clk, 20)
    assert mac.counters("transmit") == {"frames": 41}


@cocotb.test()
async def a_stamp_is_the_time_base_at_the_sfds_lane(dut: Any) -> None:
    """The time base at the edge that the SFD's column came with, and its lane: 3/8 or 7/8 of a clock later."""
    mac = XgmiiMac(dut)
    await mac.start()
    times: dict[int, tuple[int, int]] = {}

    async def watch() -> None:
        while True:
            await FallingEdge(dut.xgmii_tx_clk)
            data, control = int(dut.xgmii_txd.value), int(dut.xgmii_txc.value)
            # The preamble's last four bytes are one half of a column.
            for half, lane in ((0, 3), (4, 7)):
                word = data >> 8 * half & 0xFFFFFFFF
                if word == 0xD5555555 and not control >> half & 0xF:
                    times[len(times)] = (int(dut.wireNow.value), int(dut.wireStep.value) * lane >> 3)

    cocotb.start_soon(watch())
    random = generator()
    frames = [bytes(random.choice([60, 61, 62, 63, 90])) for _ in range(30)]
    for number, frame in enumerate(frames):
        mac.send(frame, tag=number + 1)
    for number in range(len(frames)):
        tag, stamp = await mac.departure()
        now, lane = times[number]
        assert (tag, stamp) == (number + 1, now + lane >> 16)


@cocotb.test()
async def a_pair_is_back_to_back(dut: Any) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    random = generator()
    launch = mac.now
    frames = [random.randbytes(random.randrange(60, 200)) for _ in range(20)]
    for first, second in zip(frames[::2], frames[1::2], strict=True):
        launch += 3000 << 16
        mac.send(first, mode=AT, launch=launch, tag=0)
        mac.send(second, mode=AFTER_PREVIOUS, tag=0)
    for first, second in zip(frames[::2], frames[1::2], strict=True):
        left = await departed(mac, 2)
        assert [seen.frame for seen in left] == [first, second]
        assert left[1].gap == gaps_by_deficit([first])[0]


@cocotb.test()
async def an_immediate_frame_never_makes_a_timed_one_late(dut: Any) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    random = generator()
    for _ in range(60):
        launch = mac.now + (random.randrange(700, 1100) << 16) + random.randrange(1 << 16)
        mac.send(bytes(60), mode=AT, launch=launch, tag=1)
        for _ in range(random.randrange(1, 5)):
            mac.send(bytes(random.randrange(60, 400)))
        tag, stamp = await mac.departure()
        assert tag == 1 and 0 <= stamp - launch <= SLOT_PS << 16
        await ClockCycles(dut.clk, 300)
    assert "lateBusy" not in mac.counters("transmit")


@cocotb.test()
async def a_late_frame_is_counted_by_its_cause(dut: Any) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    launch = mac.now + (2000 << 16)
    mac.send(bytes(1000), mode=AT, launch=launch, tag=1)
    mac.send(bytes(60), mode=AT, launch=launch + (100 << 16), tag=2)  # while the first is on the wire
    mac.send(bytes(60), mode=AT, launch=launch - (100 << 16), tag=3)
    for _ in range(3):
        await mac.departure()
    mac.send(bytes(60), mode=AT, launch=mac.now - (1000 << 16), tag=4)
    await mac.departure()
    await ClockCycles(dut.clk, 20)
    assert mac.counters("transmit") == {"frames": 4, "lateBusy": 1, "lateInverted": 1, "lateArrived": 1}
