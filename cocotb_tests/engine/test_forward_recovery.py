# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Spurious timeouts without timestamps, RFC 5682 2.1 (F-RTO)."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MODULE
from cocotb_tests.engine.sender import Sender


def test_forward_recovery() -> None:
    run_module(MODULE, __name__)


async def timed_out(dut: Any, unsent: int, **fields: Any) -> Sender:
    """Ten segments are out, so many wait, and the timer has expired."""
    sender = await Sender.create(dut, **({"recovery_noTailLossProbe": 1} | fields))
    assert await sender.write(10 + unsent) == list(range(10))
    sender.kinds()
    assert (await sender.expire())[1] == [0]
    assert sender.kinds() == ["timeout"]
    return sender


@cocotb.test()
@cocotb.parametrize(sack=[True, False])
async def two_acks_of_new_data_say_that_the_timeout_was_spurious(dut: Any, sack: bool) -> None:
    """(2b): new data leaves after the first; (3b): after the second the window is what it was."""
    sender = await timed_out(dut, 20, sack=sack)
    assert await sender.hear(1) == [10, 11], "two segments that were never sent"
    assert sender.kinds() == ["acknowledged"]
    await sender.hear(2)
    assert sender.kinds() == ["undone"]
    assert sender.windows()[0] >= 10 * sender.mss


@cocotb.test()
async def a_duplicate_after_it_sends_everything_again(dut: Any) -> None:
    """(3a): the new segments arrive behind a hole."""
    sender = await timed_out(dut, 20)
    assert await sender.hear(1) == [10, 11]
    assert await sender.hear(1, (10, 11)) == [1, 2]
    assert await sender.hear(3) == [3, 4, 5]
    assert "undone" not in sender.kinds()


@cocotb.test()
@cocotb.parametrize(
    case=["no new data", "a duplicate first", "a hole", "all is acknowledged", "switched off", "a second timeout"]
)
async def otherwise_the_timeout_is_taken_for_a_loss(dut: Any, case: str) -> None:
    """(2a); without new data the algorithm does not apply."""
    fields = {"recovery_noUndo": 1} if case == "switched off" else {}
    sender = await timed_out(dut, 0 if case == "no new data" else 20, **fields)
    if case == "a duplicate first":
        await sender.hear(0, (4, 5))
    if case == "a second timeout":
        assert (await sender.expire())[1] == [0]
    blocks = [(3, 5)] if case == "a hole" else []
    again = await sender.hear(10 if case == "all is acknowledged" else 1, *blocks)
    assert again[:2] == ([10, 11] if case == "all is acknowledged" else [1, 2])
    await sender.hear(11 if case == "all is acknowledged" else 2)
    assert "undone" not in sender.kinds()
