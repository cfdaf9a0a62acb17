# SPDX-License-Identifier: BSD-2-Clause-Patent
"""BurstReader: each transfer comes out as one frame of exactly its bytes."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import FrameSink, StreamMonitor, StreamSource, clocks, generator, start, until, watch_idle
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.memory.axi import read_ram
from cocotb_tests.memory.layout import BUFFER_BYTES, FLOWS, RECEIVE


@each_width
def test_burst_reader(width: int) -> None:
    run_width("BurstReader", __name__, width)


def transfer(random: Random, length: int) -> dict[str, int]:
    wraps = random.random() < 0.3
    at = BUFFER_BYTES - random.randint(0, min(length, 64)) if wraps else random.getrandbits(16)
    sequence = (random.getrandbits(16) << 16) | (at % BUFFER_BYTES)
    return {"flow": random.randrange(FLOWS), "sequence_value": sequence, "length": length}


def lengths(random: Random, count: int) -> list[int]:
    """Short ones, where every alignment matters, and some of up to 9,000 bytes."""
    return [random.randint(1, 40) if random.random() < 0.8 else random.randint(1, 9000) for _ in range(count)]


@cocotb.test()
@cocotb.parametrize((("stall", "late"), [(0.0, 1), (0.3, 1), (0.6, 60)]))
async def a_transfer_yields_its_bytes_from_byte_0_on(dut: Any, stall: float, late: int) -> None:
    transfers = StreamSource(dut, "transfers", stall=stall)
    data = FrameSink(dut, "data", stall=stall)
    ram = read_ram(dut, stall=stall, late=late)
    await start(dut)
    cocotb.start_soon(watch_idle(dut, ["transfers_valid"], ["data_valid", "axi_arvalid"]))
    random = generator()
    transfers_drawn = [transfer(random, length) for length in lengths(random, 80)]
    transfers.put(*transfers_drawn)
    for each in transfers_drawn:
        expected = RECEIVE.read(ram, each["flow"], each["sequence_value"], each["length"])
        assert (await data.receive()).data == expected, each
    await until(dut, lambda: dut.idle.value == 1, "idle")


@cocotb.test()
async def a_transfer_of_no_bytes_yields_nothing(dut: Any) -> None:
    transfers = StreamSource(dut, "transfers")
    data = FrameSink(dut, "data")
    ram = read_ram(dut)
    await start(dut)
    transfers.put({"flow": 1, "sequence_value": 5, "length": 0}, {"flow": 2, "sequence_value": 7, "length": 3})
    assert (await data.receive()).data == RECEIVE.read(ram, 2, 7, 3)
    await clocks(dut, 50)
    assert not data.stream.pending()
    assert dut.idle.value == 1


@cocotb.test()
async def a_whole_buffer_moves_at_once(dut: Any) -> None:
    transfers = StreamSource(dut, "transfers")
    data = FrameSink(dut, "data")
    ram = read_ram(dut)
    await start(dut)
    transfers.put({"flow": 15, "sequence_value": 0xFFFF_8003, "length": BUFFER_BYTES})
    assert (await data.receive()).data == RECEIVE.read(ram, 15, 0xFFFF_8003, BUFFER_BYTES)


@cocotb.test()
async def a_consumer_that_stalls_does_not_hold_the_memory(dut: Any) -> None:
    """Every burst that is requested finds space here, so r is ready whenever the memory answers."""
    transfers = StreamSource(dut, "transfers")
    data = FrameSink(dut, "data", stall=1.0)
    read_ram(dut)
    await start(dut)
    for sequence in range(0, 14600, 1460):
        transfers.put({"flow": 3, "sequence_value": sequence, "length": 1460})
    refused = 0
    for _ in range(1500):
        await clocks(dut, 1)
        refused += int(dut.axi_rvalid.value == 1 and dut.axi_rready.value == 0)
    assert refused == 0
    assert dut.axi_rvalid.value == 0, "the reader requested more than it has space for"
    data.stream.stall = 0.0
    for _ in range(10):
        assert len((await data.receive()).data) == 1460


@cocotb.test()
async def reads_of_the_next_transfer_overlap_with_this_ones_data(dut: Any) -> None:
    """The next burst is requested before the last beat of this transfer has left."""
    transfers = StreamSource(dut, "transfers")
    data = FrameSink(dut, "data")
    monitor = StreamMonitor(dut, "data")
    read_ram(dut)
    await start(dut)
    for sequence in (3, 1463):
        transfers.put({"flow": 3, "sequence_value": sequence, "length": 1460})
    await until(dut, lambda: dut.axi_arvalid.value == 1 and dut.axi_arready.value == 1, "the first burst")
    await until(dut, lambda: dut.axi_arvalid.value == 1 and dut.axi_arready.value == 1, "the second burst")
    assert monitor.count < 20
    assert len((await data.receive()).data) == 1460


@cocotb.test()
@cocotb.parametrize((("stall", "late"), [(0.0, 1), (0.3, 1), (0.6, 60)]))
async def an_error_of_any_beat_marks_its_frame_alone(dut: Any, stall: float, late: int) -> None:
    transfers = StreamSource(dut, "transfers", stall=stall)
    data = FrameSink(dut, "data", stall=stall)
    ram = read_ram(dut, stall=stall, late=late)
    await start(dut)
    random = generator()
    given = [transfer(random, length) for length in lengths(random, 120)]
    bad = [random.random() < 0.3 for _ in given]
    word = len(dut.axi_rdata) // 8
    places = [{address - address % word for address in RECEIVE.addresses(*each.values())} for each in given]
    faults = {random.choice(sorted(place)) for place, wrong in zip(places, bad, strict=True) if wrong}
    ram.faults = faults
    failures: list[bool] = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk)
            if dut.data_valid.value == 1 and dut.data_ready.value == 1 and dut.data_payload_last.value == 1:
                failures.append(dut.failed.value == 1)

    cocotb.start_soon(watch())
    transfers.put(*given)
    for each in given:
        assert len((await data.receive()).data) == each["length"]
    assert failures == [bool(place & faults) for place in places]
    assert any(failures)
