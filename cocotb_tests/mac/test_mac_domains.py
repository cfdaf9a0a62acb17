# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Link down, soft reset, reset and a stopped clock: what was on its way is dropped and counted, and what comes after
arrives."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.gmii import padded
from cocotb_tests.mac.mac import AFTER_PREVIOUS, ASAP, AT, PERIOD_PS, Mac

HOUR = 3600 * 10**9 << 16


def test_mac_domains() -> None:
    run_module("GmiiMac", __name__, random_power_up=True)


async def both_ways_work(mac: Mac) -> None:
    random = generator()
    for _ in range(3):
        out, back = random.randbytes(random.randrange(60, 200)), random.randbytes(random.randrange(60, 200))
        mac.send(out, mode=AT, launch=mac.now + (2000 << 16), tag=77)
        mac.wire_in.put(back)
        assert (await mac.wire_out.receive()).frame == out
        assert (await mac.departure())[0] == 77
        received = await mac.receive.receive()
        assert received.data == back and not received.extras["error"]


@cocotb.test()
async def while_the_link_is_down_frames_are_dropped_and_counted(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    mac.send(bytes(600), tag=1)
    for mode in (AT, AFTER_PREVIOUS, AT):
        mac.send(bytes(60), mode=mode, launch=mac.now + HOUR, tag=2)
    await ClockCycles(dut.clk, 250)
    dut.linkUp.value = 0  # the first is on the wire, which it leaves whole
    mac.send(bytes(100), mode=ASAP, tag=3)
    mac.wire_in.put(bytes(60))
    departed = await mac.wire_out.receive()
    assert departed.frame == bytes(600) and departed.fcs_right
    await ClockCycles(dut.clk, 500)
    assert (await mac.departure())[0] == 1 and mac.departures.beats.empty()
    assert mac.counters("transmit") == {"frames": 1, "linkDown": 4}
    assert mac.counters("receive") == {"linkDown": 1}
    dut.linkUp.value = 1
    await ClockCycles(dut.clk, 20)
    await both_ways_work(mac)
    assert mac.counters("transmit") == {"frames": 4, "linkDown": 4}


@cocotb.test()
async def a_soft_reset_empties_the_gate_and_counts(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    before = mac.now
    for number in range(12):
        mac.send(bytes(70 + number), mode=AT, launch=mac.now + HOUR, tag=5)
    mac.send(bytes(1500))
    await ClockCycles(dut.clk, 800)  # on the wire
    await mac.soft_reset()
    cut = await mac.wire_out.receive()
    assert not cut.fcs_right
    assert mac.counters("transmit") == {"frames": 1, "reset": 12}
    assert mac.now > before
    await both_ways_work(mac)
    assert mac.departures.beats.empty()


@cocotb.test()
async def a_soft_reset_in_mid_frame_ends_it_for_the_core_as_damaged(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    frames = [generator().randbytes(length) for length in (1000, 60, 60)]
    mac.receive.stream.stall = 1.0
    for frame in frames:
        mac.wire_in.put(frame)
    await mac.wire_done()
    mac.receive.stream.stall = 0.0
    await ClockCycles(dut.clk, 20)
    mac.receive.stream.stall = 1.0
    await ClockCycles(dut.clk, 4)
    await mac.soft_reset()
    mac.receive.stream.stall = 0.0
    part = await mac.receive.receive_any()
    assert part.extras["error"] == 1 and 0 < len(part.data) < 1000
    await ClockCycles(dut.clk, 100)
    assert mac.receive.stream.beats.empty()
    assert mac.counters("receive") == {"reset": 3}
    await both_ways_work(mac)


@cocotb.test()
async def soft_resets_in_mid_traffic_lose_no_count(dut: Any) -> None:
    mac = Mac(dut, stall=0.2, core=10_000, receive=PERIOD_PS + 1, transmit=PERIOD_PS - 1)
    await mac.start()
    random = generator()
    sent = arrived = 0
    for _ in range(8):
        for _ in range(random.randrange(1, 12)):
            length = random.choice([60, 61, 200, 1514])
            sent += 1
            mac.send(
                random.randbytes(length),
                mode=random.randrange(3),
                launch=mac.now + (random.randrange(9000) << 16),
                tag=1,
                known=random.random() < 0.5,
            )
            arrived += 1
            mac.wire_in.put(random.randbytes(random.choice([60, 61, 300])))
        await ClockCycles(dut.clk, random.randrange(20, 1500))
        await mac.soft_reset()
    await mac.transmit.drained(100_000)
    await mac.wire_done()
    await ClockCycles(dut.clk, 8000)
    # Frames that were cut on the wire left. Of those that came in a reset leaves out two at the most: the one that it
    # cuts and the next, which may begin within it; it is over before a third can.
    assert sum(mac.counters("transmit").get(name, 0) for name in ("frames", "reset")) == sent
    received = mac.counters("receive")
    assert arrived - 2 * 8 <= sum(received.values()) <= arrived and received.keys() <= {"frames", "reset"}
    while not mac.receive.stream.beats.empty():
        frame = await mac.receive.receive_any()
        received["frames"] -= not frame.extras["error"]
    assert received["frames"] == 0
    while not mac.wire_out.frames.empty():
        await mac.wire_out.receive()
    while not mac.departures.beats.empty():
        await mac.departure()
    await both_ways_work(mac)


@cocotb.test()
async def a_reset_in_mid_traffic_restarts(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    random = generator()
    for _ in range(5):
        mac.send(random.randbytes(900), tag=9)
        mac.wire_in.put(random.randbytes(400))
        await ClockCycles(dut.clk, random.randrange(100, 700))
        dut.reset.value = 1
        await ClockCycles(dut.clk, 4)
        dut.reset.value = 0
        await mac.transmit.drained()
        await mac.wire_done()
        await ClockCycles(dut.clk, 2000)
    while not mac.wire_out.frames.empty():
        await mac.wire_out.receive()
    while not mac.departures.beats.empty():
        await mac.departure()
    while not mac.receive.stream.beats.empty():
        await mac.receive.stream.receive()
    await both_ways_work(mac)


@cocotb.test()
async def a_soft_reset_works_while_the_receive_clock_stands(dut: Any) -> None:
    mac = Mac(dut)
    await mac.start()
    mac.wire_in.put(bytes(600))
    await ClockCycles(dut.clk, 300)
    mac.wire_clock.stop()
    await mac.soft_reset()
    frame = generator().randbytes(80)
    mac.send(frame, tag=3)
    assert (await mac.wire_out.receive()).frame == padded(frame)
    assert (await mac.departure())[0] == 3
    assert (await mac.receive.receive_any()).extras["error"], "what came of it before"
    mac.wire_clock.start()
    await mac.wire_done()  # the rest of the frame is none
    assert mac.counters("receive") == {}
    await both_ways_work(mac)


@cocotb.test()
async def a_soft_reset_waits_for_no_edge_of_the_core_mid_frame(dut: Any) -> None:
    """The core stops in a frame, the reset comes, and the frame's rest is swallowed."""
    mac = Mac(dut)
    await mac.start()
    mac.transmit.stream.stall = 0.9
    mac.send(bytes(1200))
    await ClockCycles(dut.clk, 200)
    assert not mac.transmit.stream.idle
    await mac.soft_reset()
    assert not mac.transmit.stream.idle
    mac.transmit.stream.stall = 0.0
    await mac.transmit.drained()
    await ClockCycles(dut.clk, 2000)
    await RisingEdge(dut.clk)
    assert mac.counters("transmit") == {"reset": 1}
    await both_ways_work(mac)
