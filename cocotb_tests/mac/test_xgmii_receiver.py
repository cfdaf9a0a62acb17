# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The wire in at 10 Gb/s: frames of every length from either lane arrive; a bad one is counted by its cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.mac import LARGEST, WireTime, XgmiiMac, stamp_of
from cocotb_tests.mac.test_gmii_receiver import CAUSES, arrives
from cocotb_tests.mac.xgmii import IDLE, START, TERMINATE

PERIOD_PS = XgmiiMac.period_ps
LENGTHS = [*range(60, 140), *range(LARGEST - 8, LARGEST + 1)]  # sim/bench/ten has them all


def test_xgmii_receiver() -> None:
    run_module("XgmiiMac", __name__, random_power_up=True)


def frames(lengths: Sequence[int]) -> list[bytes]:
    data = generator().randbytes(LARGEST + max(lengths))
    return [data[length : 2 * length] for length in lengths]


@cocotb.test()
@cocotb.parametrize(receive=[PERIOD_PS - 1, PERIOD_PS + 1])
async def frames_of_every_length_arrive_at_line_rate(dut: Any, receive: int) -> None:
    """Deficit idle count makes the lanes change."""
    mac = XgmiiMac(dut, receive=receive, core=PERIOD_PS - 1)
    await mac.start()
    offered = frames(LENGTHS)
    sent = [mac.wire_in.put(frame) for frame in offered]
    for frame in offered:
        received = await mac.receive.receive()
        assert received.data == frame and received.extras["error"] == 0
    assert {frame.lane for frame in sent} == {0, 4}
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": len(sent)}


@cocotb.test()
@cocotb.parametrize(second=[False, True], ifg=[5, 12])
async def each_lane_of_start_and_end_is_right(dut: Any, second: bool, ifg: int) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    mac.wire_in.source.force_offset_start = second
    mac.wire_in.source.ifg = ifg
    mac.wire_in.source.enable_dic = False
    offered = frames(range(60, 60 + 24))
    sent = [mac.wire_in.put(frame) for frame in offered]
    for frame in offered:
        await arrives(mac, frame)
    assert all(frame.lane == 4 for frame in sent) if second else any(frame.lane == 0 for frame in sent)


WRONG_ENDS: list[Callable[[XgmiiMac, Random], object]] = [
    lambda mac, random: mac.wire_in.put(random.randbytes(100), characters={60: IDLE}),  # no terminate
    lambda mac, random: mac.wire_in.put(random.randbytes(100), characters={62: 0x9C}),
    # The next one starts in the middle: its preamble has no SFD.
    lambda mac, random: mac.wire_in.put(random.randbytes(100), characters={64: START}),
]
XGMII_CAUSES = {
    **CAUSES,
    "rxError": [
        lambda mac, random: mac.wire_in.put(random.randbytes(100), errors=frozenset({random.randrange(8, 112)})),
        lambda mac, random: mac.wire_in.put(random.randbytes(60), errors=frozenset({71})),  # the last byte
        lambda mac, random: mac.wire_in.put(random.randbytes(60), errors=frozenset({1})),  # the preamble
        lambda mac, random: mac.wire_in.put(random.randbytes(20), errors=frozenset({15})),  # a runt too
        *WRONG_ENDS,
    ],
}


@cocotb.test()
@cocotb.parametrize(cause=list(CAUSES), second=[False, True])
async def a_bad_frame_is_counted_by_its_cause_and_the_next_arrives(dut: Any, cause: str, second: bool) -> None:
    mac = XgmiiMac(dut, receive=PERIOD_PS + 1)
    await mac.start()
    mac.wire_in.source.force_offset_start = second
    random = generator()
    for make in XGMII_CAUSES[cause]:
        make(mac, random)
        good = random.randbytes(random.randrange(60, 200))
        mac.wire_in.put(good)
        received = await mac.receive.receive(40_000)
        assert received.data == good
    await mac.wire_done()
    count = len(XGMII_CAUSES[cause])
    assert mac.counters("receive") == {"frames": count, cause: count}


@cocotb.test()
async def errors_in_every_lane_are_seen(dut: Any) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    positions = range(8, 8 + 72)
    for position in positions:
        mac.wire_in.put(bytes(68), errors=frozenset({position}))
        mac.wire_in.put(bytes([position]) * 60)
    for position in positions:
        await arrives(mac, bytes([position]) * 60)
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": len(positions), "rxError": len(positions)}


@cocotb.test()
async def a_start_without_sfd_is_no_frame(dut: Any) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    for preamble in (b"\x55" * 8, b"\x55" * 6, b"\x55"):
        mac.wire_in.put(bytes(60), preamble=preamble)
    mac.wire_in.put(bytes(60), characters={3: TERMINATE})
    good = generator().randbytes(77)
    mac.wire_in.put(good)
    await arrives(mac, good)
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": 1}


@cocotb.test()
async def fragments_close_together_harm_nobody(dut: Any) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    mac.wire_in.source.ifg = 5
    mac.wire_in.source.enable_dic = False
    random = generator()
    runts = 0
    for _ in range(20):
        for _ in range(fragments := random.randrange(1, 6)):
            mac.wire_in.put(random.randbytes(random.randrange(3)), check=b"")
        runts += fragments
        good = random.randbytes(60)
        mac.wire_in.put(good)
        await arrives(mac, good)
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": 20, "runt": runts}


@cocotb.test()
async def a_stalled_core_loses_whole_frames_and_counts_them(dut: Any) -> None:
    mac = XgmiiMac(dut)
    await mac.start()
    mac.receive.stream.stall = 1.0
    random = generator()
    offered = [random.randbytes(random.choice([60, 64, 500, LARGEST])) for _ in range(60)]
    for frame in offered:
        mac.wire_in.put(frame)
    await mac.wire_done()
    lost = mac.counters("receive")["overflow"]
    mac.receive.stream.stall = 0.0
    left = iter(offered)
    for _ in range(len(offered) - lost):
        assert (await mac.receive.receive()).data in left, "in order, each whole"
    await mac.wire_done()
    assert mac.counters("receive") == {"frames": len(offered) - lost, "overflow": lost} and lost > 0


@cocotb.test()
@cocotb.parametrize(second=[False, True], receive=[PERIOD_PS - 1, PERIOD_PS, PERIOD_PS + 1])
async def a_stamp_is_right_to_a_clock_at_its_lane(dut: Any, second: bool, receive: int) -> None:
    """Smallest frames at line rate and others, each with the stamp of its own SFD."""
    mac = XgmiiMac(dut, receive=receive)
    await mac.start()
    time = WireTime(mac, mac.nominal)
    await time.find()
    mac.wire_in.source.force_offset_start = second
    random = generator()
    errors = []
    for _ in range(8):
        burst = [random.randbytes(random.choice([60, 60, 61, 300])) for _ in range(8)]
        burst += [b"\x01"] * random.randrange(3)
        sent = [mac.wire_in.put(frame, check=None if len(frame) > 1 else b"") for frame in burst]
        for frame, wire in zip(burst, sent, strict=True):
            if len(frame) == 1:
                continue
            received = await mac.receive.receive()
            assert received.data == frame
            errors.append(stamp_of(received.extras) / 65536 - time.at(wire.sfd_ps))
        await ClockCycles(dut.clk, random.randrange(20))
    assert all(abs(error) <= 6.4 for error in errors), errors
    assert abs(sum(errors) / len(errors)) < 3.3
