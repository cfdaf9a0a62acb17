# SPDX-License-Identifier: BSD-2-Clause-Patent
"""BurstWriter: each transfer's bytes arrive in its buffer, and no other byte of the memory changes."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.memory.axi import write_ram
from cocotb_tests.memory.layout import MEMORY_BYTES, RECEIVE, Mirror
from cocotb_tests.memory.test_burst_reader import lengths, transfer


@each_width
def test_burst_writer(width: int) -> None:
    run_width("BurstWriter", __name__, width)


def words(dut: Any, data: bytes) -> list[int]:
    """As wide as the port; any bytes fill the last one."""
    width = len(dut.words_payload) // 8
    data += generator().randbytes(-len(data) % width)
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]


@cocotb.test()
@cocotb.parametrize((("stall", "late"), [(0.0, 1), (0.3, 1), (0.6, 60)]))
async def a_transfer_changes_its_bytes_and_no_others(dut: Any, stall: float, late: int) -> None:
    transfers = StreamSource(dut, "transfers", stall=stall)
    source = StreamSource(dut, "words", stall=stall)
    done = StreamSink(dut, "done", stall=stall)
    ram = write_ram(dut, stall=stall, late=late)
    await start(dut)
    random = generator()
    mirror = Mirror(ram)
    transfers_drawn = [transfer(random, length) for length in lengths(random, 80)]
    for each in transfers_drawn:
        data = random.randbytes(each["length"])
        RECEIVE.write(mirror, each["flow"], each["sequence_value"], data)
        transfers.put(each)
        source.put(*words(dut, data))
    for _ in transfers_drawn:
        assert await done.receive() == {"payload": 0}
    await clocks(dut, 100)
    assert not done.pending()
    assert dut.idle.value == 1
    assert mirror.differences(ram) == []


@cocotb.test()
async def done_comes_after_the_last_response(dut: Any) -> None:
    transfers = StreamSource(dut, "transfers")
    source = StreamSource(dut, "words")
    done = StreamSink(dut, "done")
    ram = write_ram(dut)
    ram.b_channel.pause = True
    await start(dut)
    transfers.put({"flow": 0, "sequence_value": 2000, "length": 3000})
    source.put(*words(dut, bytes(3000)))
    await clocks(dut, 1000)
    assert done.count == 0
    assert dut.idle.value == 0
    ram.b_channel.pause = False
    await done.receive()


@cocotb.test()
async def writing_goes_on_while_responses_are_late(dut: Any) -> None:
    """Up to eight transfers wait for their responses; the ninth waits for the first one's token."""
    transfers = StreamSource(dut, "transfers")
    source = StreamSource(dut, "words")
    done = StreamSink(dut, "done")
    ram = write_ram(dut)
    ram.b_channel.pause = True
    ram.b_channel.queue_occupancy_limit = -1  # the memory itself goes on
    await start(dut)
    for sequence in range(0, 9 * 64, 64):
        transfers.put({"flow": 0, "sequence_value": sequence, "length": 64})
        source.put(*words(dut, bytes(64)))
    await clocks(dut, 500)
    assert source.sent == 8 * len(words(dut, bytes(64))) + 1  # a word more waits inside
    ram.b_channel.pause = False
    for _ in range(9):
        await done.receive()


@cocotb.test()
async def an_error_of_any_burst_marks_its_transfer_alone(dut: Any) -> None:
    transfers = StreamSource(dut, "transfers")
    source = StreamSource(dut, "words")
    done = StreamSink(dut, "done")
    ram = write_ram(dut)
    await start(dut)
    ram.faults = {RECEIVE.addresses(4, 2048 + 1000, 1)[0]}
    for sequence in (0, 2048 - 800, 4096):
        transfers.put({"flow": 4, "sequence_value": sequence, "length": 1200 + 4096 * (sequence == 1248)})
        source.put(*words(dut, bytes(1200 + 4096 * (sequence == 1248))))
    assert [(await done.receive())["payload"] for _ in range(3)] == [0, 1, 0]


@cocotb.test()
async def a_transfer_of_no_bytes_writes_nothing(dut: Any) -> None:
    transfers = StreamSource(dut, "transfers")
    done = StreamSink(dut, "done")
    source = StreamSource(dut, "words")
    ram = write_ram(dut)
    await start(dut)
    before = ram.read(0, MEMORY_BYTES)
    transfers.put({"flow": 0, "sequence_value": 0, "length": 0})
    await until(dut, lambda: transfers.idle, "the transfer to be accepted")
    await clocks(dut, 50)
    assert done.count == 0
    assert source.sent == 0
    assert ram.read(0, MEMORY_BYTES) == before
