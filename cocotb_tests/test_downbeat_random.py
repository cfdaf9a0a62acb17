# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Random legal traffic with losses: nothing hangs, no byte is wrong, no flow is lost."""

from __future__ import annotations

from typing import Any

import cocotb
import pytest

from cocotb_tests.bench import generator
from cocotb_tests.bench.layout import number
from cocotb_tests.bench.runner import run_module
from cocotb_tests.bench.widths import end_widths_in_soak, run_width
from cocotb_tests.core.core import Core
from cocotb_tests.core.crowd import LISTEN_PORT, Crowd

STEPS = 150
LOSS = 0.05


@end_widths_in_soak
def test_downbeat_random(width: int) -> None:
    run_width("Downbeat", __name__, width)


@pytest.mark.soak
def test_no_modules_clock_rests() -> None:
    """As every tool but Verilator has it."""
    run_module("Downbeat", __name__, label="restless", verilator_args=["-UVERILATOR"])


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.2])
async def random_legal_traffic_neither_hangs_nor_leaks_a_flow(dut: Any, stall: float) -> None:
    core = await Core.create(dut, stall=stall)
    core.listen(LISTEN_PORT)
    await core.idle()
    crowd = Crowd(core, generator(), LOSS)
    await disorder(crowd)
    await farewell(crowd)
    for _ in range(number("flows")):
        crowd.application_connects()
    for _ in range(20):
        await crowd.settle()
    newest = [c for c in crowd.connections.values() if c.state == "established" and not c.closed]
    assert len(newest) == number("flows"), f"only {len(newest)} of {number('flows')} flows can be used again"


async def disorder(crowd: Crowd, steps: int = STEPS) -> None:
    draw = crowd.draw
    for _ in range(steps):
        living = [c for c in crowd.connections.values() if not c.gone]
        anyone = draw.choice(living) if living else None
        action = draw.choices(
            ["connects", "opens", "sends", "writes", "finishes", "closes", "aborts", "resets", "waits"],
            [10, 10, 25, 25, 6, 6, 2, 2, 14],
        )[0]
        if action == "connects":
            crowd.peer_connects()
        elif action == "opens":
            crowd.application_connects()
        elif action == "waits":
            await crowd.settle()
            if int(crowd.core.dut.nextDeadline.value) + 1 < 1 << 48:
                await crowd.core.jump()
            for connection in living:
                crowd.speak(connection)
        elif anyone is not None:
            {
                "sends": crowd.peer_sends,
                "writes": crowd.application_writes,
                "finishes": crowd.peer_finishes,
                "closes": crowd.application_closes,
                "aborts": lambda connection: crowd.application_closes(connection, "abort"),
                "resets": crowd.peer_resets,
            }[action](anyone)
        await crowd.settle()
    crowd.check()


async def farewell(crowd: Crowd) -> None:
    """All sides close, the wire loses no more, and time passes until the core waits for nothing."""
    crowd.loss = 0.0
    for _ in range(400):
        for connection in crowd.connections.values():
            crowd.application_closes(connection)
            crowd.peer_finishes(connection)
            crowd.speak(connection)
        await crowd.settle()
        if int(crowd.core.dut.nextDeadline.value) + 1 < 1 << 48:
            await crowd.core.jump()
        elif all(connection.closed or connection.flow is None for connection in crowd.connections.values()):
            break
    else:
        raise AssertionError("400 deadlines later the core still waits for something")
    crowd.check()
