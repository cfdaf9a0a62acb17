# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A random power-up is one: without it a module that forgets to reset something would pass all the same."""

from __future__ import annotations

import os
from typing import Any

import cocotb

from cocotb_tests.bench import start
from cocotb_tests.bench.runner import run_module


def test_power_up() -> None:
    run_module("BenchFifo", __name__)


def test_random_power_up() -> None:
    run_module("BenchFifo", __name__, label="random", environment={"POWER_UP": "random"}, random_power_up=True)


@cocotb.test()
async def state_without_a_reset_starts_as_requested(dut: Any) -> None:
    await start(dut, source_valid=0, sink_ready=0, dropBeat=0, flipBit=0, withdraw=0, freeze=0)
    assert dut.occupancy.value == 0
    # The word of the queue's memory that would leave first, and that nobody has written.
    assert (dut.sink_payload_frame_data.value != 0) == (os.environ.get("POWER_UP") == "random")
