# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The engine with buffers of 16 MiB: what 16 or 17 bits of a number of bytes would not hold."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import SECOND, Endpoint
from cocotb_tests.engine.segment import MSS, Options, offset

SCALE = 9
SEGMENTS = 250  # a window of 365,000 bytes from the beginning


def test_wide_window() -> None:
    run_module("FlowEngineWide", __name__)


async def flying(dut: Any, *, sack: bool) -> tuple[Endpoint, int]:
    """A connection with all segments in flight; where the first of them begins."""
    parameters = {"initialWindow": SEGMENTS, "ssthresh": 1 << 30, "recovery_noPrr": 1}
    endpoint = await Endpoint.create(dut, options=Options(scale=SCALE, sack=sack), parameters=parameters)
    endpoint.window = (16 << 20) >> SCALE
    await endpoint.connect()
    endpoint.send("A")  # a SYN's window is not scaled (RFC 7323 2.2)
    await endpoint.silent()
    endpoint.application("written", SEGMENTS * MSS)
    segments = await endpoint.replies()
    assert [(offset(segment.seq, endpoint.ack), segment.length) for segment in segments] == [
        (i * MSS, MSS) for i in range(SEGMENTS)
    ]
    return endpoint, endpoint.ack


@cocotb.test()
@cocotb.parametrize(held=[240, 190, 150])
async def a_hole_of_any_length_is_sent_again_in_full_segments(dut: Any, held: int) -> None:
    """RFC 6675 4, NextSeg rule 1: from the first lost byte on, two segments for each ACK that tells of something new,
    without PRR."""
    endpoint, begin = await flying(dut, sack=True)
    block: dict[str, Any] = {"options_sack_0_valid": 1, "options_sack_0_right": SEGMENTS * MSS}
    # The ACK before makes the first byte lost (RFC 6675 4, IsLost).
    endpoint.send("A", options_sack_0_left=(SEGMENTS - 5) * MSS, **block)
    endpoint.send("A", options_sack_0_left=held * MSS, **block)
    sent = 0
    while sent < held:
        again = await endpoint.replies()
        assert [(offset(segment.seq, begin), segment.length) for segment in again] == [
            (i * MSS, MSS) for i in range(sent, min(sent + 2, held))
        ]
        sent += len(again)
        endpoint.ack = (begin + sent * MSS) % 2**32
        block["options_sack_0_right"] = (SEGMENTS - sent) * MSS
        endpoint.send("A", options_sack_0_left=(held - sent) * MSS, **block)


@cocotb.test()
async def after_a_timeout_all_is_sent_again_in_full_segments(dut: Any) -> None:
    """RFC 5681 3.1: slow start from one segment, over more than 2^17 bytes."""
    endpoint, begin = await flying(dut, sack=False)
    assert await endpoint.expire() >= SECOND // 2
    sent = 0
    while sent < SEGMENTS:
        again = await endpoint.replies()
        assert [(offset(segment.seq, begin), segment.length) for segment in again] == [
            (i * MSS, MSS) for i in range(sent, sent + len(again))
        ]
        assert again, "the connection stands still"
        sent += len(again)
        endpoint.ack = (begin + sent * MSS) % 2**32
        endpoint.send("A")


@cocotb.test()
async def the_window_of_a_full_buffer_is_announced_and_closes(dut: Any) -> None:
    """16 MiB are 32,768 units of 2^9 bytes (RFC 7323 2.3); each segment that is not read takes its bytes of it."""
    endpoint = await Endpoint.create(dut, options=Options(scale=SCALE))
    await endpoint.accept()
    size = 16 << 20
    taken = 0
    for length in (8192, 8192, 8000, 8000):
        endpoint.send("A", length)
        taken += length
    replies = await endpoint.replies()
    assert replies[-1].ack == endpoint.seq
    assert replies[-1].window << SCALE in range(size - taken - (1 << SCALE) + 1, size - taken + 1)
