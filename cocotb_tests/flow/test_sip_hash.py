# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The hash of three words against the golden SipHash-2-4."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import generator, start, until
from cocotb_tests.bench.runner import run_module
from sim.golden.flow.siphash import siphash


def test_sip_hash() -> None:
    run_module("SipHash", __name__)


async def hash_of(dut: Any, message: bytes) -> tuple[int, int]:
    """The hash of 16 to 23 bytes, and the clocks that it took."""
    padded = message.ljust(23, b"\0") + bytes([len(message)])
    for index in range(3):
        word = int.from_bytes(padded[8 * index : 8 * index + 8], "little")
        getattr(dut, f"message_payload_{index}").value = word
    dut.message_valid.value = 1
    taken = 0

    def ready() -> bool:
        nonlocal taken
        taken += 1
        return bool(dut.message_ready.value)

    await until(dut, ready, "the hash", 40)
    hashed = int(dut.hash.value)
    dut.message_valid.value = 0
    return hashed, taken


@cocotb.test()
@cocotb.parametrize(gap=[0, 1, 5])
async def messages_hash_as_siphash_2_4_says(dut: Any, gap: int) -> None:
    draw = generator()
    key = draw.getrandbits(128)
    await start(dut, key=key, message_valid=0)
    for _ in range(100):
        message = draw.randbytes(draw.randint(16, 23))
        hashed, taken = await hash_of(dut, message)
        assert hashed == siphash(key, message)
        assert taken <= 25
        for _ in range(gap):
            await RisingEdge(dut.clk)
