# SPDX-License-Identifier: BSD-2-Clause-Patent
"""PayloadMemory: four masters at once, each of cocotbext-axi, on one block RAM."""

from __future__ import annotations

import logging
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import Combine
from cocotbext.axi import AxiMasterRead, AxiMasterWrite, AxiReadBus, AxiWriteBus

from cocotb_tests.bench import bounded, generator, start, until, watch_idle
from cocotb_tests.bench.widths import each_width, run_width
from cocotb_tests.memory.axi import pauses
from cocotb_tests.memory.layout import MEMORY_BYTES

PIECES = 60


@each_width
def test_payload_memory(width: int) -> None:
    run_width("PayloadMemory", __name__, width)


def reader(dut: Any, name: str, stall: float) -> AxiMasterRead:
    master = AxiMasterRead(AxiReadBus.from_prefix(dut, name), dut.clk, dut.reset)
    master.log.setLevel(logging.WARNING)
    if stall:
        master.r_channel.set_pause_generator(pauses(stall))
    return master


def writer(dut: Any, name: str, stall: float) -> AxiMasterWrite:
    master = AxiMasterWrite(AxiWriteBus.from_prefix(dut, name), dut.clk, dut.reset)
    master.log.setLevel(logging.WARNING)
    if stall:
        master.w_channel.set_pause_generator(pauses(stall))
        master.b_channel.set_pause_generator(pauses(stall))
    return master


class Piece:
    """A stretch of memory that one writer writes and then one reader reads back."""

    def __init__(self, random: Random, number: int) -> None:
        stride = MEMORY_BYTES // (2 * PIECES)
        self.data = random.randbytes(random.choice([1, 3, 8, 21, 700, 1460, 3000]))
        self.address = number * stride + random.randrange(stride - len(self.data))


async def exchange(writing: AxiMasterWrite, reading: AxiMasterRead, pieces: list[Piece]) -> None:
    for piece in pieces:
        await writing.write(piece.address, piece.data)
        response = await reading.read(piece.address, len(piece.data))
        assert response.data == piece.data, f"{piece.address:#x}"


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.4])
async def data_written_on_either_port_is_read_on_either_port(dut: Any, stall: float) -> None:
    """Two pairs of masters at once. After a response the data is there, and no one gets another's beats."""
    fetch, deliver = reader(dut, "fetch", stall), reader(dut, "deliver", stall)
    place, accept = writer(dut, "place", stall), writer(dut, "accept", stall)
    await start(dut)
    requests = ["fetch_arvalid", "deliver_arvalid", "place_awvalid", "accept_awvalid"]
    responses = ["fetch_rvalid", "deliver_rvalid", "place_bvalid", "accept_bvalid"]
    cocotb.start_soon(watch_idle(dut, requests, responses))
    random = generator()
    pieces = [Piece(random, number) for number in range(2 * PIECES)]
    both = [
        cocotb.start_soon(exchange(accept, fetch, pieces[:PIECES])),
        cocotb.start_soon(exchange(place, deliver, pieces[PIECES:])),
    ]
    await bounded(Combine(*both), "both pairs", 100_000)
    for piece in random.sample(pieces, 20):
        assert (await deliver.read(piece.address, len(piece.data))).data == piece.data
    await until(dut, lambda: dut.idle.value == 1, "idle")
