# SPDX-License-Identifier: BSD-2-Clause-Patent
"""After a retransmission timeout SND.NXT is back at SND.UNA, and what the peer holds beyond it is not in flight."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE, Endpoint
from cocotb_tests.engine.segment import MSS, Options, offset

SEGMENTS = 10  # the initial window


def test_rewind() -> None:
    run_module(MODULE, __name__)


def held(left: int, right: int) -> dict[str, Any]:
    """A SACK block, in segments from the acknowledgment number."""
    return {"options_sack_0_valid": 1, "options_sack_0_left": left * MSS, "options_sack_0_right": right * MSS}


@cocotb.test()
async def what_is_held_beyond_what_goes_out_again_lets_nothing_go(dut: Any) -> None:
    """RFC 6675 4: pipe; RFC 5681 3.1: one segment after a timeout, then slow start."""
    endpoint = await Endpoint.connected(dut, options=Options(sack=True), parameters={"initialWindow": SEGMENTS})
    endpoint.application("written", 3 * SEGMENTS * MSS)
    first = [segment.seq for segment in await endpoint.replies()]
    assert first == [endpoint.ack + number * MSS for number in range(SEGMENTS)]
    origin = endpoint.ack
    await endpoint.expire()
    assert [offset(segment.seq, origin) for segment in await endpoint.replies()] == [0]
    # The peer had all but the first and the third segment.
    endpoint.ack = (origin + 2 * MSS) % 2**32
    endpoint.send("A", **held(1, SEGMENTS - 2))
    assert [offset(segment.seq, origin) // MSS for segment in await endpoint.replies()] == [2, 3]
    # It repeats itself: still two segments in flight, which are all that the window takes.
    endpoint.send("A", **held(1, SEGMENTS - 2))
    await endpoint.silent()
    # The lost data has come, and the window has grown by a segment.
    endpoint.ack = (origin + SEGMENTS * MSS) % 2**32
    endpoint.send("A")
    assert [offset(segment.seq, origin) // MSS for segment in await endpoint.replies()] == [10, 11, 12]
