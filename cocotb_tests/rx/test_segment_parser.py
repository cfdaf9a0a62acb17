# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The parser's judgements: each bad frame is counted by its cause, goes nowhere, and harms nobody behind it."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.rx.packets import BAD, LARGEST, any_good, frame
from cocotb_tests.rx.receiver import SLOTS, Receiver


@each_width
def test_segment_parser(width: int) -> None:
    run_width("Receiver", __name__, width)


@cocotb.test()
async def each_bad_frame_is_dropped_and_counted_by_its_cause(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    expected: dict[str, int] = {}
    for cause, fault, make in BAD * 4:
        receiver.put(make(random))
        expected[cause] = expected.get(cause, 0) + 1
        await receiver.settle()
        assert receiver.drops() == expected, f"{cause}: {fault}"
        assert receiver.segments.count == 0, f"{cause}: {fault}"
    good = any_good(random)
    receiver.put(good)
    await receiver.expect(good)
    assert receiver.bypass.stream.count == 0


@cocotb.test()
@cocotb.parametrize(ours=[True, False])
async def a_frame_that_the_mac_found_damaged_is_dropped(dut: Any, ours: bool) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    raw = frame(b"payload", ether={} if ours else {"dst": "02:00:00:00:00:77"})
    receiver.put(raw, error=1)
    receiver.put(frame(b"next"))
    await receiver.expect(frame(b"next"))
    await receiver.settle()
    assert receiver.drops() == {"badFrame": 1}
    assert receiver.bypass.stream.count == 0


@cocotb.test()
@cocotb.parametrize(tag=[None, 5], ours=[True, False])
async def the_largest_frame_passes_and_a_byte_more_is_oversize(dut: Any, tag: int | None, ours: bool) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    ether = {} if ours else {"dst": "02:00:00:00:00:77"}
    largest = frame(generator().randbytes(LARGEST - 54), tag=tag, ether=ether)
    for excess in (1, 2, 3, 400, 530, 600, 1500, 20000):
        receiver.put(largest + bytes(excess))
    receiver.put(largest)
    if ours:
        await receiver.expect(largest)
    else:
        assert (await receiver.bypass.receive()).data == largest
    await receiver.settle()
    assert receiver.drops() == {"oversize": 8}
    assert receiver.bypass.stream.count == (0 if ours else -(-len(largest) // receiver.width))


@cocotb.test()
async def a_damaged_frame_in_each_slot_loses_none(dut: Any) -> None:
    receiver = Receiver(dut)
    await receiver.start()
    random = generator()
    for cause, _, make in BAD:
        receiver.put(*(make(random) for _ in range(SLOTS + 1)))
        await receiver.settle()
        receiver.put(*(frame(bytes([n])) for n in range(SLOTS)))
        for n in range(SLOTS):
            receiver.free(await receiver.expect(frame(bytes([n]))))
        assert "noSlot" not in receiver.drops(), cause
