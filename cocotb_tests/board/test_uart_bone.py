# SPDX-License-Identifier: BSD-2-Clause-Patent
"""LiteX's uartbone, byte by byte: a request is command, words, address of a word (highest byte first), data (likewise).

The bytes are those of LiteX's own client, litex/tools/remote/comm_uart.py (`CommUART.read`, `CommUART.write`).
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteBus, AxiLiteRam

from cocotb_tests.bench import CLOCK_NS, generator, start
from cocotb_tests.bench.runner import run_module
from cocotb_tests.board.uart import UartHost

BYTES = 4096
WRITE, READ, WRITE_FIXED, READ_FIXED = 1, 2, 3, 4


def test_uart_bone() -> None:
    run_module("UartBoneBench", __name__)


def head(command: int, words: int, address: int) -> bytes:
    return bytes([command, words]) + (address // 4).to_bytes(4, "big")


async def bench(dut: Any) -> tuple[UartHost, AxiLiteRam]:
    ram = AxiLiteRam(AxiLiteBus.from_prefix(dut, "m_axil"), dut.clk, dut.reset, size=BYTES)
    host = UartHost(dut, CLOCK_NS * 1000)
    await start(dut)
    await ClockCycles(dut.clk, 64)
    return host, ram


def word(ram: AxiLiteRam, address: int) -> int:
    return int.from_bytes(ram.read(address, 4), "little")


async def written(dut: Any) -> None:
    await ClockCycles(dut.clk, 100)


@cocotb.test()
async def a_write_of_one_word_is_ten_bytes(dut: Any) -> None:
    host, ram = await bench(dut)
    await host.send(bytes.fromhex("01 01 00000041 deadbeef"))
    await written(dut)
    assert word(ram, 0x104) == 0xDEADBEEF
    assert host.silent, "a write has no answer"


@cocotb.test()
async def a_read_of_one_word_is_answered_by_four_bytes_the_highest_first(dut: Any) -> None:
    host, ram = await bench(dut)
    ram.write(0x104, (0x12345678).to_bytes(4, "little"))
    assert await host.response(bytes.fromhex("02 01 00000041"), 4) == bytes.fromhex("12345678")


@cocotb.test()
async def bursts_go_on_from_word_to_word_and_fixed_ones_stay(dut: Any) -> None:
    host, ram = await bench(dut)
    words = [generator().getrandbits(32) for _ in range(8)]
    data = b"".join(value.to_bytes(4, "big") for value in words)
    await host.send(head(WRITE, 8, 0x200) + data)
    await written(dut)
    assert [word(ram, 0x200 + 4 * i) for i in range(8)] == words
    assert await host.response(head(READ, 8, 0x200), 32) == data
    await host.send(head(WRITE_FIXED, 8, 0x300) + data)
    await written(dut)
    assert [word(ram, 0x300), word(ram, 0x304)] == [words[7], 0]
    assert await host.response(head(READ_FIXED, 3, 0x300), 12) == 3 * data[28:]


@cocotb.test()
async def a_burst_of_255_words_is_whole(dut: Any) -> None:
    host, ram = await bench(dut)
    data = generator().randbytes(4 * 255)
    for at in range(0, len(data), 4):
        ram.write(0x400 + at, data[at : at + 4][::-1])
    assert await host.response(head(READ, 255, 0x400), len(data)) == data


@cocotb.test()
async def beyond_the_last_region_a_read_is_zero_and_a_write_nothing(dut: Any) -> None:
    host, ram = await bench(dut)
    ram.write(0, b"\xff" * 4)
    assert await host.response(head(READ, 1, BYTES), 4) == bytes(4)
    await host.send(head(WRITE, 1, BYTES) + b"\x55" * 4)
    await written(dut)
    assert word(ram, 0) == 0xFFFFFFFF


@cocotb.test()
async def unknown_commands_and_empty_bursts_are_passed_over(dut: Any) -> None:
    host, ram = await bench(dut)
    await host.send(head(9, 1, 0x10) + head(WRITE, 0, 0x10) + head(READ, 0, 0x10))
    await host.send(head(WRITE, 1, 0x10) + b"\1\2\3\4")
    await written(dut)
    assert word(ram, 0x10) == 0x01020304
    assert host.silent
