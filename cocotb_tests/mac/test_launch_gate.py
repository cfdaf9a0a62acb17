# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The launch gate: no frame early, none late without a cause, immediate frames only where they fit."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.gmii import GAP
from cocotb_tests.mac.mac import AFTER_PREVIOUS, ASAP, AT, LARGEST, NOMINAL, PERIOD_PS, Mac

BYTE = 8 << 16  # a byte time in 2^-16 ns
OVERHEAD = 24  # preamble, SFD, FCS, gap


def test_launch_gate() -> None:
    run_module("GmiiMac", __name__)


def wire_time(frame: bytes) -> int:
    return (max(len(frame), 60) + OVERHEAD) * BYTE


async def stamps(mac: Mac, count: int) -> dict[int, int]:
    return dict([await mac.departure() for _ in range(count)])


@cocotb.test()
@cocotb.parametrize(transmit=[PERIOD_PS - 1, PERIOD_PS, PERIOD_PS + 1])
async def a_frame_leaves_at_the_first_byte_time_at_or_after_its_launch(dut: Any, transmit: int) -> None:
    mac = Mac(dut, transmit=transmit)
    await mac.start()
    random = generator()
    launch = mac.now + 100 * BYTE * 8
    launches = {}
    for tag in range(1, 25):
        launch += 84 * BYTE + random.choice([0, 1, BYTE - 1, BYTE, random.randrange(40 * BYTE)])
        # On the grid, just before, just behind, anywhere.
        launch = random.choice([launch, launch // BYTE * BYTE, launch // BYTE * BYTE + 1, launch // BYTE * BYTE - 1])
        launches[tag] = launch
        mac.send(random.randbytes(60), mode=AT, launch=launch, tag=tag)
        launch = -(-launch // BYTE) * BYTE
    departed = await stamps(mac, len(launches))
    assert departed == {tag: -(-launch // BYTE) * BYTE for tag, launch in launches.items()}
    await ClockCycles(dut.clk, 20)
    assert mac.counters("transmit") == {"frames": len(launches)}


@cocotb.test()
@cocotb.parametrize(increment=[NOMINAL - NOMINAL // 10_000, NOMINAL + NOMINAL // 10_000 + 12_345])
async def with_a_disciplined_clock_none_is_early_and_none_late_by_a_byte(dut: Any, increment: int) -> None:
    mac = Mac(dut)
    await mac.start(increment=increment)
    await ClockCycles(dut.clk, 100)
    random = generator()
    launch = mac.now + 100 * BYTE * 8
    launches = {}
    for tag in range(1, 25):
        launch += 90 * BYTE + random.randrange(40 * BYTE)
        launches[tag] = launch
        mac.send(random.randbytes(60), mode=AT, launch=launch, tag=tag)
    for tag, stamp in (await stamps(mac, len(launches))).items():
        assert 0 <= stamp - launches[tag] <= increment >> 16
    await ClockCycles(dut.clk, 20)
    assert mac.counters("transmit") == {"frames": len(launches)}


@cocotb.test()
@cocotb.parametrize(core=[6_500, PERIOD_PS, 2 * PERIOD_PS, 50_000])
async def a_frame_of_known_length_starts_before_it_has_come(dut: Any, core: int) -> None:
    """Beside others: each leaves whole and in order, long ones sooner than they could be written."""
    mac = Mac(dut, core=core, transmit=PERIOD_PS + 1)
    await mac.start()
    random = generator()
    frames = [random.randbytes(random.choice([60, 61, 100, 700, LARGEST])) for _ in range(40)]
    for frame in frames:
        mac.send(frame, known=random.random() < 0.7)
    for frame in frames:
        departed = await mac.wire_out.receive()
        assert departed.frame == frame and departed.fcs_right
    await ClockCycles(dut.clk, 1000)
    begin = mac.now
    mac.send(bytes(LARGEST), known=True, tag=1)
    (_, stamp) = await mac.departure()
    assert stamp - begin < (LARGEST // 8 * core << 16) // 1000 // (2 if core > 10_000 else 1) + (500 << 16)
    assert (await mac.wire_out.receive()).frame == bytes(LARGEST)
    await ClockCycles(dut.clk, 20)
    assert mac.counters("transmit") == {"frames": len(frames) + 1}


@cocotb.test()
async def frames_of_known_length_are_dropped_while_the_link_is_down(dut: Any) -> None:
    mac = Mac(dut, core=2 * PERIOD_PS)
    await mac.start(link=0)
    for _ in range(20):
        mac.send(bytes(LARGEST), known=True)
    await mac.transmit.drained(20_000)
    await ClockCycles(dut.clk, 200)
    assert mac.counters("transmit") == {"linkDown": 20}
    dut.linkUp.value = 1
    await ClockCycles(dut.clk, 20)
    frames = [generator().randbytes(LARGEST) for _ in range(8)]
    for frame in frames:
        mac.send(frame, known=True)
    for frame in frames:
        departed = await mac.wire_out.receive()
        assert departed.frame == frame and departed.fcs_right


@cocotb.test()
async def a_pair_is_back_to_back(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    random = generator()
    launch = mac.now
    pairs = 10
    frames = [random.randbytes(random.randrange(60, 200)) for _ in range(2 * pairs)]
    first_launches = []
    for pair in range(pairs):
        launch = (launch // BYTE + random.randrange(1000, 1500)) * BYTE
        first_launches.append(launch)
        mac.send(frames[2 * pair], mode=AT, launch=launch, tag=2 * pair + 1)
        mac.send(frames[2 * pair + 1], mode=AFTER_PREVIOUS, launch=random.getrandbits(60), tag=2 * pair + 2)
        mac.send(random.randbytes(60), mode=ASAP)  # waits until the pair is through
    departed = await stamps(mac, 2 * pairs)
    for pair, first in enumerate(first_launches):
        assert departed[2 * pair + 1] == first
        assert departed[2 * pair + 2] == first + wire_time(frames[2 * pair])


@cocotb.test()
@cocotb.parametrize(spare=[-2, -1, 0, 1, 2])
async def an_immediate_frame_goes_only_when_it_ends_before_the_next_launch(dut: Any, spare: int) -> None:
    """`spare` byte times are left between the end of its gap and the launch, if it goes at once."""
    mac = Mac(dut)
    await mac.start()
    random = generator()
    for _ in range(4):
        first, second = (random.randbytes(random.randrange(60, 300)) for _ in range(2))
        between = random.randbytes(random.randrange(200, 300))
        launch = (mac.now // BYTE + 1200) * BYTE
        follows = launch + wire_time(first) + wire_time(between) + spare * BYTE
        mac.send(first, mode=AT, launch=launch, tag=1)
        mac.send(second, mode=AT, launch=follows - random.randrange(BYTE), tag=2)
        await ClockCycles(dut.clk, 1000)  # too late to go before the first
        mac.send(between, tag=3)
        third = launch + wire_time(first) if spare >= 0 else follows + wire_time(second)
        assert await stamps(mac, 3) == {1: launch, 2: follows, 3: third}
        await ClockCycles(dut.clk, 200)
    assert mac.counters("transmit") == {"frames": 12}


@cocotb.test()
async def late_frames_hold_an_immediate_one_for_one_frame_at_most(dut: Any) -> None:
    """They take turns, but a pair stays back to back."""
    mac = Mac(dut)
    await mac.start()
    frame = bytes(200)
    launch = (mac.now // BYTE + 1500) * BYTE
    mac.send(frame, mode=AT, launch=launch, tag=1)
    for tag in (2, 3, 5):
        mac.send(frame, mode=AT, launch=launch, tag=tag)
    mac.send(frame, mode=AFTER_PREVIOUS, tag=6)
    mac.send(frame, mode=AT, launch=launch, tag=7)
    await ClockCycles(dut.clk, 1400)  # too late to go before the first
    for tag in (11, 12, 13):
        mac.send(bytes(60), tag=tag)
    departed = await stamps(mac, 9)
    assert sorted(departed, key=lambda tag: departed[tag]) == [1, 11, 2, 12, 3, 13, 5, 6, 7]
    assert departed[11] == launch + wire_time(frame)
    assert departed[6] == departed[5] + wire_time(frame)


@cocotb.test()
async def a_frame_whose_launch_comes_as_the_wire_is_free_goes_before_an_immediate_one(dut: Any) -> None:
    """Back to back on schedule is not late."""
    mac = Mac(dut)
    await mac.start()
    frame = bytes(200)
    launch = (mac.now // BYTE + 1500) * BYTE
    for number in range(4):
        mac.send(frame, mode=AT, launch=launch + number * wire_time(frame), tag=number + 1)
    await ClockCycles(dut.clk, 1400)
    mac.send(bytes(60), tag=11)
    departed = await stamps(mac, 5)
    assert departed == {tag: launch + (tag - 1) * wire_time(frame) for tag in (1, 2, 3, 4)} | {
        11: launch + 4 * wire_time(frame)
    }


@cocotb.test()
async def lateness_is_counted_by_its_cause(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    frame = bytes(100)
    long_ago = mac.now - 1000 * BYTE
    mac.send(frame, mode=AT, launch=long_ago, tag=1)  # came too late
    departed = await stamps(mac, 1)
    worst = (departed[1] - long_ago) >> 16
    await ClockCycles(dut.clk, 200)
    assert mac.counters("transmit") == {"frames": 1, "lateArrived": 1}
    assert dut.counters_transmit_worstLateness.value == worst > 1000 * 8

    launch = (mac.now // BYTE + 500) * BYTE
    mac.send(frame, mode=AT, launch=launch, tag=1)
    mac.send(frame, mode=AT, launch=launch + wire_time(frame) - BYTE + 1, tag=2)  # on time: the byte behind the first
    mac.send(frame, mode=AT, launch=launch + 2 * wire_time(frame) - BYTE, tag=3)  # a byte too early for the wire
    departed = await stamps(mac, 3)
    assert departed == {tag: launch + (tag - 1) * wire_time(frame) for tag in (1, 2, 3)}
    await ClockCycles(dut.clk, 200)
    assert mac.counters("transmit") == {"frames": 4, "lateArrived": 1, "lateBusy": 1}

    launch = (mac.now // BYTE + 500) * BYTE
    mac.send(frame, mode=AT, launch=launch, tag=1)
    mac.send(frame, mode=AT, launch=launch - 50 * BYTE, tag=2)  # should have come before
    await stamps(mac, 2)
    await ClockCycles(dut.clk, 200)
    assert mac.counters("transmit") == {"frames": 6, "lateArrived": 1, "lateBusy": 1, "lateInverted": 1}
    assert dut.counters_transmit_worstLateness.value == worst  # the others were late by less


@cocotb.test()
async def a_frame_late_behind_one_that_holds_the_wire_is_late_because_of_it(dut: Any) -> None:
    """However early it had come, it would not have left sooner."""
    mac = Mac(dut)
    await mac.start()
    frame = bytes(1500)  # 188 clocks to come in, 1,524 to go out
    launch = (mac.now // BYTE + 400) * BYTE
    for tag in (1, 2, 3, 4):  # the third and the fourth are complete only after their launch
        mac.send(frame, mode=AT, launch=launch, tag=tag)
    departed = await stamps(mac, 4)
    assert departed == {tag: launch + (tag - 1) * wire_time(frame) for tag in (1, 2, 3, 4)}
    await ClockCycles(dut.clk, 1600)
    assert mac.counters("transmit") == {"frames": 4, "lateBusy": 3}

    long_ago = mac.now - 1000 * BYTE
    for tag in (1, 2, 3):
        mac.send(frame, mode=AT, launch=long_ago + tag, tag=tag)  # all came too late, not the first alone
    await stamps(mac, 3)
    await ClockCycles(dut.clk, 1600)
    assert mac.counters("transmit") == {"frames": 7, "lateBusy": 3, "lateArrived": 3}


@cocotb.test()
async def the_longest_wait_holds_immediate_frames_only_where_they_collide(dut: Any) -> None:
    """A launch in ten hours leaves the wire to the others."""
    mac = Mac(dut)
    await mac.start()
    mac.send(bytes(60), mode=AT, launch=mac.now + (36_000 * 10**9 << 16), tag=1)
    for _ in range(20):
        mac.send(bytes(60), mode=ASAP)
    gaps = [(await mac.wire_out.receive()).gap for _ in range(20)]
    assert gaps[1:] == [GAP] * 19
    await ClockCycles(dut.clk, 200)
    assert mac.counters("transmit") == {"frames": 20}
