# SPDX-License-Identifier: BSD-2-Clause-Patent
"""PlacementWriter: payload leaves its slot for the receive buffer, in order, and `placed` follows the response."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cocotb_tests.bench import StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.memory.axi import write_ram
from cocotb_tests.memory.layout import BUFFER_BYTES, FLOWS, MEMORY_BYTES, RECEIVE, Mirror
from cocotb_tests.memory.slots import SLOTS, SlotStore, placement


@each_width
def test_placement_writer(width: int) -> None:
    run_width("PlacementWriter", __name__, width)


def any_placement(random: Random) -> dict[str, int]:
    offset = random.choice([54, 58, 66, random.randint(54, 1000)])
    length = random.choice([0, random.randint(1, 30), 1460, random.randint(1, 1514)])
    near_the_end = random.random() < 0.3
    return placement(
        random.randrange(FLOWS),
        BUFFER_BYTES - random.randint(0, 40) if near_the_end else random.getrandbits(32),
        min(length, 1514 - offset),
        slot=random.randrange(SLOTS),
        offset=offset,
        fin=random.getrandbits(1),
        discard=int(random.random() < 0.2),
        generation=random.getrandbits(8),
    )


@cocotb.test()
@cocotb.parametrize((("stall", "late"), [(0.0, 1), (0.3, 1), (0.6, 60)]))
async def payload_is_placed_in_order_and_slots_return(dut: Any, stall: float, late: int) -> None:
    placements = StreamSource(dut, "placements", stall=stall)
    placed = StreamSink(dut, "placed", stall=stall)
    free = StreamSink(dut, "slotFree")
    store = SlotStore(dut)
    ram = write_ram(dut, stall=stall, late=late)
    await start(dut)
    random = generator()
    mirror = Mirror(ram)
    given = [any_placement(random) for _ in range(100)]
    placements.put(*given)
    kept = [each for each in given if not each["discard"]]
    for each in kept:
        data = store.payload(each["payload_slot"], each["payload_offset"], each["length"])
        RECEIVE.write(mirror, each["reference_flow"], each["sequence_value"], data)
        expected = {
            name: each[name] for name in ("reference_flow", "reference_generation", "sequence_value", "length", "fin")
        }
        assert await placed.receive() == expected | {"memoryError": 0}
    await until(dut, lambda: dut.idle.value == 1, "idle")
    assert [beat["payload"] for beat in free.pending()] == [each["payload_slot"] for each in given]
    assert not placed.pending()
    assert mirror.differences(ram) == []


@cocotb.test()
async def placed_waits_for_the_response_and_the_slot_does_not(dut: Any) -> None:
    placements = StreamSource(dut, "placements")
    placed = StreamSink(dut, "placed")
    free = StreamSink(dut, "slotFree")
    SlotStore(dut)
    ram = write_ram(dut)
    ram.b_channel.pause = True
    await start(dut)
    placements.put(placement(2, 100, 1460, slot=5))
    assert await free.receive(clocks=250) == {"payload": 5}
    await clocks(dut, 500)
    assert placed.count == 0
    assert dut.idle.value == 0
    ram.b_channel.pause = False
    assert (await placed.receive())["length"] == 1460


@cocotb.test()
async def a_fin_alone_waits_for_the_data_before_it(dut: Any) -> None:
    placements = StreamSource(dut, "placements")
    placed = StreamSink(dut, "placed")
    SlotStore(dut)
    ram = write_ram(dut)
    ram.b_channel.pause = True
    await start(dut)
    placements.put(placement(2, 100, 200), placement(2, 300, 0, fin=1))
    await clocks(dut, 500)
    assert placed.count == 0
    ram.b_channel.pause = False
    assert [((await placed.receive())["length"], fin) for fin in (0, 1)] == [(200, 0), (0, 1)]


@cocotb.test()
async def a_discarded_payload_is_not_read_and_not_written(dut: Any) -> None:
    placements = StreamSource(dut, "placements")
    placed = StreamSink(dut, "placed")
    free = StreamSink(dut, "slotFree")
    SlotStore(dut)
    ram = write_ram(dut)
    await start(dut)
    before = ram.read(0, MEMORY_BYTES)
    placements.put(placement(2, 100, 1460, slot=6, discard=1))
    assert await free.receive(clocks=6) == {"payload": 6}
    await clocks(dut, 300)
    assert placed.count == 0
    assert ram.read(0, MEMORY_BYTES) == before


@cocotb.test()
async def a_refused_write_is_counted_and_said_with_its_placement(dut: Any) -> None:
    placements = StreamSource(dut, "placements")
    placed = StreamSink(dut, "placed")
    SlotStore(dut)
    ram = write_ram(dut)
    await start(dut)
    ram.faults = {RECEIVE.addresses(2, 104, 1)[0]}
    placements.put(placement(2, 100, 20), placement(2, 120, 20))
    received = [await placed.receive() for _ in range(2)]
    assert [(each["length"], each["memoryError"]) for each in received] == [(20, 1), (20, 0)]
    assert dut.writeErrors.value == 1
