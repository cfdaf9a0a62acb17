# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Waits that end: each names what it waits for, so that a hang fails with a sentence and not with a timeout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from cocotb.simtime import get_sim_time
from cocotb.triggers import RisingEdge, SimTimeoutError, with_timeout

from cocotb_tests.bench.clock import CLOCK_NS

T = TypeVar("T")

DEFAULT_CLOCKS = 10_000


async def bounded(awaitable: Awaitable[T], what: str, clocks: int = DEFAULT_CLOCKS) -> T:
    """Awaits, for at most `clocks` clocks; fails with `what` (a noun phrase: "the SYN-ACK on tx")."""
    try:
        return await with_timeout(awaitable, clocks * CLOCK_NS, "ns")
    except SimTimeoutError:
        raise AssertionError(_message(what, clocks)) from None


async def until(dut: Any, condition: Callable[[], bool], what: str, clocks: int = DEFAULT_CLOCKS) -> None:
    """Waits for an edge of `dut.clk` at which `condition()` holds, looking at each edge."""
    for _ in range(clocks):
        await RisingEdge(dut.clk)
        if condition():
            return
    raise AssertionError(_message(what, clocks))


def _message(what: str, clocks: int) -> str:
    return f"waited {clocks} clocks in vain for {what} (at {get_sim_time('ns'):.0f} ns)"
