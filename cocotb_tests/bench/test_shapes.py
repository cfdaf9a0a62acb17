# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The bench on the other shapes of port: Fragment, AXI4-Stream, Flow, and payloads without fields."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import AXI_STREAM, FrameSink, FrameSource, StreamSink, StreamSource, generator, start
from cocotb_tests.bench.runner import run_module


def test_shapes() -> None:
    run_module("BenchShapes", __name__)


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def fragments_and_axi_streams_carry_frames(dut: Any, stall: float) -> None:
    packet = FrameSource(dut, "packet", stall=stall)
    m_axis = FrameSink(dut, "m_axis", naming=AXI_STREAM, stall=stall)
    s_axis = FrameSource(dut, "s_axis", naming=AXI_STREAM, stall=stall)
    back = FrameSink(dut, "back", stall=stall)
    await start(dut)
    random = generator()
    for length in (1, 7, 8, 9, 60, 1514):
        data, tag = random.randbytes(length), random.getrandbits(8)
        packet.put(data, tag=tag)
        assert await m_axis.receive() == (data, {"user": tag})
        s_axis.put(data, user=tag)
        assert await back.receive() == (data, {"tag": tag})


@cocotb.test()
async def a_flow_carries_plain_values(dut: Any) -> None:
    word = StreamSource(dut, "word", stall=0.5)
    words = StreamSink(dut, "words", stall=0.5)
    await start(dut)
    values = [generator().getrandbits(12) for _ in range(50)]
    await word.send(*values)
    assert [(await words.receive())["payload"] for _ in values] == values
