# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection keeps numbers by their low bits: what a stranger or an old segment says is not taken for what has them
too."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint
from cocotb_tests.engine.segment import MODULUS, MSS

LOW_BITS = range(12, 32)  # 18 of them are kept


def test_near_numbers() -> None:
    run_module(MODULE, __name__)


def test_near_numbers_with_spaced_events() -> None:
    run_module("FlowEngineSpaced", __name__, label="spaced")


@cocotb.test()
@cocotb.parametrize(first=[77_000, MODULUS - 1])
async def an_acknowledgment_with_the_low_bits_of_the_fins_does_not_end_the_connection(dut: Any, first: int) -> None:
    endpoint = await Endpoint.connected(dut, first=first)
    endpoint.application("shutdown")
    (fin,) = await endpoint.replies()
    assert "F" in fin.flags and endpoint.state == "finWait1"
    of_fin = endpoint.ack + 1
    for bits in LOW_BITS:
        for away in (-(1 << bits), 1 << bits):
            endpoint.send("A", ack=of_fin + away)
            await endpoint.replies()
            assert endpoint.state == "finWait1", f"2^{bits} away"
    endpoint.send("A", ack=of_fin)
    await endpoint.settle()
    assert endpoint.state == "finWait2"


@cocotb.test()
async def a_report_on_a_number_with_the_low_bits_of_one_in_flight_is_ignored(dut: Any) -> None:
    """RFC 5927 4.1: nobody else should know which is in flight."""
    endpoint = await Endpoint.connected(dut)
    endpoint.application("written", MSS)
    (segment,) = await endpoint.replies()
    before = int(dut.ignoredIcmpErrors.value)
    for bits in LOW_BITS:
        endpoint.icmp_error(seq=segment.seq + (1 << bits))
        await endpoint.settle()
    assert int(dut.ignoredIcmpErrors.value) == before + len(LOW_BITS)
    endpoint.icmp_error(seq=segment.seq)
    await endpoint.settle()
    assert int(dut.ignoredIcmpErrors.value) == before + len(LOW_BITS)


@cocotb.test()
async def an_acknowledgment_below_the_oldest_byte_changes_no_window(dut: Any) -> None:
    """RFC 9293 3.10.7.4: the window is updated if SND.UNA =< SEG.ACK; so SND.WL2 need not be kept."""
    endpoint = await Endpoint.connected(dut)
    old = endpoint.ack
    endpoint.application("written", MSS)
    await endpoint.replies()
    endpoint.ack = (endpoint.ack + MSS) % MODULUS
    endpoint.send("A")
    await endpoint.settle()
    opened, endpoint.window = endpoint.window, 0
    endpoint.send("A", 10, ack=old)  # newer by its sequence number
    await endpoint.settle()
    endpoint.window = opened
    endpoint.application("written", 100)
    lengths = [reply.length for reply in await endpoint.replies()]
    assert sum(lengths) == 100, "the window is shut by what was old"
