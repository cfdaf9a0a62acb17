# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Conditions of recovery's rules: once for one cause, only without SACK, until a loss."""

from __future__ import annotations

from typing import Any

import cocotb

from cocotb_tests.bench import StreamMonitor
from cocotb_tests.bench.layout import element
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import MILLISECOND, MODULE, SECOND
from cocotb_tests.engine.sender import Sender


def test_recovery_conditions() -> None:
    run_module(MODULE, __name__)


@cocotb.test()
async def one_idle_time_is_one_restart(dut: Any) -> None:
    """RFC 5681 4.1: the window is cut once, whatever events come before the segment leaves."""
    sender = await Sender.create(dut)
    sender.kinds()
    for _ in range(2):
        await sender.endpoint.advance(5 * SECOND)
        for _ in range(3):
            sender.endpoint.application("written", 10)
        await sender.endpoint.replies()
        assert sender.kinds().count("restart") == 1
        sender.endpoint.ack += 30
        sender.endpoint.send("A")
        await sender.endpoint.replies()
        sender.kinds()


@cocotb.test()
@cocotb.parametrize(sack=[True, False])
async def reno_recovery_is_for_peers_without_sack(dut: Any, sack: bool) -> None:
    """docs/reference/recovery.md: with SACK a partial ACK leaves the recovery open, whatever was asked for."""
    sender = await Sender.create(dut, sack=sack, renoRecovery=1, recovery_noTailLossProbe=1)
    assert len(await sender.write(10)) == 10
    sender.kinds()
    for count in range(3):
        await sender.hear(0, *([(1, 2 + count)] if sack else []))
    assert sender.kinds()[-1] == "loss"
    await sender.hear(2, *([(3, 5)] if sack else []))
    assert ("recovered" in sender.kinds()) != sack
    await sender.hear(10)
    assert ("recovered" in sender.kinds()) == sack


@cocotb.test()
@cocotb.parametrize(loss=[True, False])
async def a_loss_ends_the_host_s_pacing(dut: Any, loss: bool) -> None:
    """docs/reference/congestion.md, host start: 40 segments are to leave 1 ms apart."""
    gap = MILLISECOND << 16
    sender = await Sender.create(dut, start_window=40, start_pace=element("StartPace", "even"), start_gap=gap)
    bookings = StreamMonitor(dut, "bookings")
    assert len(await sender.write(10)) == 10
    paced = [booking for booking in bookings.pending() if booking["paced"]]
    assert len(paced) == 10 and all(booking["interval"] == paced[0]["interval"] != 0 for booking in paced)
    sender.kinds()
    if loss:
        await sender.hear(0, (1, 4))
        assert "loss" in sender.kinds()
    await sender.hear(10)
    bookings.pending()
    assert await sender.write(2) == [10, 11]
    assert any(booking["paced"] for booking in bookings.pending()) != loss
