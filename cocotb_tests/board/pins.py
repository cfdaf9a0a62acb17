# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A board at its pins (board_pins.v): RGMII, MDIO, SDRAM, and the UART for the host's own program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer

from cocotb_tests.bench.runner import BUILD, run_module
from cocotb_tests.board.phy import Phys
from cocotb_tests.board.rgmii import RgmiiSink, RgmiiSource
from cocotb_tests.board.uart import UartHost

PERIOD_PS = 16_000


HERE = Path(__file__).parent
SDRAM = HERE / "sdram.v"


def run_board(module: str, test_module: str) -> None:
    run_module(module, test_module, around=[SDRAM, HERE / "board_pins.v"], verilator_args=[f"-DBOARD={module}"])


def described(name: str) -> Any:
    """The description that the build writes of itself in NAME.json."""
    return json.loads((BUILD / "rtl" / f"{name}.json").read_text())


class Pins:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.phys = Phys(dut, 2)
        self.source, self.sink = RgmiiSource(dut), RgmiiSink(dut)
        self.host = UartHost(dut, PERIOD_PS)

    async def start(self, *, cable: bool) -> None:
        """Until the reset is over; PHYs have a link when MDIO has asked them."""
        dut = self.dut
        dut.cable.value = int(cable)
        dut.reset.value = 1
        Clock(dut.clk, PERIOD_PS, unit="ps").start()
        Clock(dut.wire_clk, 8000, unit="ps").start()
        await Timer(2000, "ps")
        Clock(dut.late_clk, 8000, unit="ps").start()
        await ClockCycles(dut.clk, 8)
        dut.reset.value = 0
        await ClockCycles(dut.clk, 64)
