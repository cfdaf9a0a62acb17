# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The receiver as a whole: good segments, line rate, and nothing that leaks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cocotb
from cocotb.simtime import get_sim_time

from cocotb_tests.bench import CLOCK_NS, clocks, generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.rx.packets import BAD, any_good, frame, with_ip_options, with_tcp_options
from cocotb_tests.rx.receiver import SLOTS, Receiver


@each_width
def test_receiver(width: int) -> None:
    run_width("Receiver", __name__, width)


@cocotb.test()
@cocotb.parametrize(gaps=[0.0, 0.5], stall=[0.0, 0.6])
async def a_good_segment_arrives_as_scapy_reads_it(dut: Any, gaps: float, stall: float) -> None:
    receiver = Receiver(dut, gaps=gaps, stall=stall)
    await receiver.start()
    random = generator()
    # Small and large in turn: headers of frames back to back must not mix.
    for _ in range(40):
        batch = [any_good(random, longest=random.choice([140, 300, 1514])) for _ in range(random.randrange(1, SLOTS))]
        receiver.put(*batch)
        for raw in batch:
            receiver.free(await receiver.expect(raw))
    await receiver.settle()
    assert receiver.drops() == {}


@cocotb.test()
async def a_stamp_stays_with_its_frame(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    stamps = [{"stamp_ns": n << 40 | n, "stamp_fraction": n << 8} for n in range(1, 200)]
    for n, stamp in enumerate(stamps):
        # Every third frame is for another host.
        receiver.wire.put(frame(ether={} if n % 3 else {"dst": "ff:ff:ff:ff:ff:ff"}), **stamp)
    for n, stamp in enumerate(stamps):
        found = await receiver.segments.receive() if n % 3 else (await receiver.bypass.receive()).extras
        assert {field: found[field] for field in stamp} == stamp


def _clocks(raw: bytes, width: int) -> int:
    """A clock for each beat. With wider ones than eight bytes one more, for what waits for the last; but no less than a
    clock for each eight bytes of headers behind the destination and six, those of a smallest frame."""
    if width == 8:
        return -(-len(raw) // 8)
    ip_end = 14 + 4 * (raw[14] & 15)
    header = ip_end + 4 * (raw[ip_end + 12] >> 4)
    return max(-(-len(raw) // width) + 1, -(-(header - 6) // 8), 6)


async def _takes_a_clock_for_each_beat(dut: Any, *frames: bytes) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    receiver.put(*frames)
    begun = get_sim_time("ns")
    await receiver.wire.drained(50_000)
    taken = (get_sim_time("ns") - begun) / CLOCK_NS
    await receiver.settle()
    assert receiver.segments.count == len(frames)
    assert taken <= sum(_clocks(raw, receiver.width) for raw in frames) + 2


@cocotb.test()
async def smallest_frames_back_to_back_are_all_parsed(dut: Any) -> None:
    """Eight clocks each, with wider beats than eight bytes six."""
    await _takes_a_clock_for_each_beat(dut, *(frame(tcp={"seq": n}) for n in range(1000)))


@cocotb.test()
async def frames_full_of_options_back_to_back_are_all_parsed(dut: Any) -> None:
    random = generator()
    lists = [b"\1" * 40, b"\2\4\5\xb4\1\3\3\7\4\2\x08\x0a12345678", b"\1\1\x08\x0a12345678", b"\1\1\5\x22" + bytes(32)]
    frames = [with_tcp_options(random.choice(lists), pad=random.random() < 0.5) for _ in range(300)]
    await _takes_a_clock_for_each_beat(dut, *frames)


@cocotb.test()
async def segments_that_nobody_takes_hold_the_wire_and_lose_nothing(dut: Any) -> None:
    receiver = Receiver(dut, stall=1.0)
    await receiver.start()
    frames = [frame(tcp={"seq": n}) for n in range(20)]
    receiver.put(*frames)
    for _ in range(3):
        receiver.segments.stall = 1.0
        await clocks(dut, 100)
        assert receiver.segments.count < len(frames)
        receiver.segments.stall = 0.9
        await clocks(dut, 30)
    receiver.segments.stall = 0.0
    for raw in frames:
        await receiver.expect(raw)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.9])
async def options_of_a_frame_are_no_fault_of_those_that_wait_before_it(dut: Any, stall: float) -> None:
    """RFC 791 3.1: a list of IP options that is right, and one whose option has a length of one byte."""
    receiver = Receiver(dut, stall=stall)
    await receiver.start()
    good = [frame(), with_ip_options(b"\1\1\1\0")]
    for _ in range(20):
        receiver.put(*good, with_ip_options(b"\x07\1\1\1"))
    for _ in range(20):
        for raw in good:
            await receiver.expect(raw)
    await receiver.settle()
    assert receiver.drops() == {"options": 20}


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def good_and_bad_frames_at_random_leak_no_slot(dut: Any, stall: float) -> None:
    receiver = Receiver(dut, gaps=stall / 5, stall=stall)
    await receiver.start()
    random = generator()
    counted: Counter[str] = Counter()
    for _ in range(150):
        good = []
        for _ in range(7):
            raw = any_good(random, longest=200)
            damaged = random.random() < 0.1
            if random.random() < 0.5:
                cause, _, make = random.choice(BAD)
                receiver.put(make(random))
                counted[cause] += 1
            receiver.put(raw, error=int(damaged))
            if damaged:
                counted["badFrame"] += 1
            else:
                good.append(raw)
        for raw in good:
            receiver.free(await receiver.expect(raw))
    await receiver.settle()
    assert receiver.drops() == counted
    receiver.put(*(frame(bytes([n])) for n in range(SLOTS)))
    slots = {(await receiver.expect(frame(bytes([n]))))["payload_slot"] for n in range(SLOTS)}
    assert slots == set(range(SLOTS))
