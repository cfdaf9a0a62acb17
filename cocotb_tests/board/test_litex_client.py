# SPDX-License-Identifier: BSD-2-Clause-Patent
"""LiteX's own client of a uartbone, `CommUART`, on the board's bridge: where LiteX is installed (pip install litex
pyserial)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import cocotb
import pytest
from cocotb.task import bridge, resume
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiLiteRam

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.board.test_uart_bone import BYTES, bench, word
from cocotb_tests.board.uart import UartHost


def test_litex_client() -> None:
    if find_spec("litex") is None or find_spec("serial") is None:
        pytest.skip("LiteX is not installed: pip install litex pyserial, or PYTHONPATH=where it is")
    run_module("UartBoneBench", __name__)


class Port:
    """The part of pyserial that the client uses."""

    def __init__(self, host: UartHost) -> None:
        self._host = host

    def write(self, data: Sequence[int]) -> int:
        resume(self._host.send)(bytes(data))
        return len(data)

    def read(self, count: int) -> bytes:
        return resume(self._host.receive)(count)

    def inWaiting(self) -> int:  # noqa: N802
        return self._host.waiting


async def client_of(dut: Any) -> tuple[Any, AxiLiteRam]:
    from litex.tools.remote import comm_uart

    host, ram = await bench(dut)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comm_uart.serial, "serial_for_url", lambda *_, **__: Port(host))
        return comm_uart.CommUART("the simulation"), ram


@cocotb.test()
async def it_reads_what_it_wrote_word_by_word_and_in_bursts(dut: Any) -> None:
    client, ram = await client_of(dut)
    random = generator()
    for count in (1, 2, 17, 255):
        words = [random.getrandbits(32) for _ in range(count)]
        at = 4 * random.randrange((BYTES // 4 - count) + 1)
        await bridge(client.write)(at, words)
        assert await bridge(client.read)(at, count) == words
        assert [word(ram, at + 4 * index) for index in range(count)] == words
    await bridge(client.write)(0x10, 0x89ABCDEF)
    assert await bridge(client.read)(0x10) == 0x89ABCDEF


@cocotb.test()
async def its_fixed_bursts_stay_at_one_word(dut: Any) -> None:
    client, ram = await client_of(dut)
    words = [generator().getrandbits(32) for _ in range(6)]
    await bridge(client.write)(0x40, words, burst="fixed")
    await ClockCycles(dut.clk, 100)
    assert [word(ram, 0x40), word(ram, 0x44)] == [words[-1], 0]
    assert await bridge(client.read)(0x40, 5, burst="fixed") == 5 * words[-1:]
