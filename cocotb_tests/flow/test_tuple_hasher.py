# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The hash of a 4-tuple against the golden HalfSipHash-1-3."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import StreamSink, StreamSource, clocks, generator, start
from cocotb_tests.bench.runner import run_module
from sim.golden.flow.half_siphash import tuple_hash


def test_tuple_hasher() -> None:
    run_module("TupleHasher", __name__)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.7])
async def tuples_hash_as_half_siphash_1_3_says(dut: Any, stall: float) -> None:
    requests = StreamSource(dut, "requests", stall=stall)
    hashed = StreamSink(dut, "hashed", stall=stall)
    draw = generator()
    key = draw.getrandbits(64)
    await start(dut, key=key)
    widths = {"kind": 1, "tuple_remoteIp": 32, "tuple_remotePort": 16, "tuple_localPort": 16}
    beats = [{name: draw.getrandbits(width) for name, width in widths.items()} for _ in range(300)]
    requests.put(*beats)
    for beat in beats:
        response = await hashed.receive()
        assert {name: response[f"request_{name}"] for name in beat} == beat
        expected = tuple_hash(key, *(beat[f"tuple_{part}"] for part in ("remoteIp", "remotePort", "localPort")))
        assert (response["hash_first"], response["hash_second"]) == (expected.first, expected.second)
    await clocks(dut, 1)
    assert dut.empty.value == 1
