# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Waits that end: each names what it waits for, so that a hang fails with a sentence and not with a timeout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
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


async def watch_idle(dut: Any, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """The promise of `idle`: nothing is offered, and nothing will be before an input comes. Both are names of `valid`
    signals. It has no end: start it."""
    sources = [getattr(dut, name) for name in inputs]
    offered = [getattr(dut, name) for name in outputs]
    still = False
    while True:
        await RisingEdge(dut.clk)
        idle = dut.idle.value == 1
        assert idle or not still, "idle ended without an input"
        assert not idle or not any(output.value == 1 for output in offered), "idle with something to offer"
        still = idle and not any(source.value == 1 for source in sources)


def _message(what: str, clocks: int) -> str:
    return f"waited {clocks} clocks in vain for {what} (at {get_sim_time('ns'):.0f} ns)"
