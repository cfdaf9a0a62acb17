# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The protocol stage, and without SACK the recovery stage, against golden models over drawn segments, commands, timers
and ICMP errors."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cocotb

from cocotb_tests.bench import draws, generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.crowd import CLOCK, Crowd
from cocotb_tests.engine.endpoint import MILLISECOND, MODULE, SECOND
from cocotb_tests.engine.peer import Peer

COMMON = {"acknowledged", "loss", "duplicate", "recovered", "timeout", "restart"}
LATE = 20 * SECOND  # a timer fires no later, and time makes no larger step (68 s at most)


def test_connection_model() -> None:
    run_module(MODULE, __name__)


@cocotb.test()
async def each_event_does_what_the_model_says(dut: Any) -> None:
    draw = generator()
    crowd = await Crowd.create(dut, draw.choice((5 * SECOND, CLOCK - 3 * SECOND)))
    peers = [Peer(crowd, lane, generator()) for lane in crowd.lanes]
    for _ in range(draws(700, 40_000)):
        for peer in peers:
            peer.act()
        await crowd.compare()
        for peer in peers:
            peer.heard()
        await crowd.advance(step(crowd, draw))
    kinds = sum((lane.kinds for lane in crowd.lanes), Counter())
    dut._log.info("%d events; to congestion %s", crowd.counted, dict(kinds))
    assert crowd.counted > 5000 and kinds.keys() >= COMMON


def step(crowd: Crowd, draw: Any) -> int:
    """Time to the next events, ns."""
    deadlines = [lane.deadline for lane in crowd.lanes if lane.deadline is not None]
    if not deadlines or min(deadlines) < crowd.now - LATE:
        return 0 if deadlines else MILLISECOND
    short = draw.choice((8, 1000, draw.randrange(MILLISECOND), draw.randrange(50 * MILLISECOND)))
    until: int = draw.choices((min(deadlines) - crowd.now, draw.choice(deadlines) - crowd.now, short), (10, 5, 85))[0]
    return max(min(until, LATE), 0)
