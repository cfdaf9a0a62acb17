# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A reset by register leaves no burst on the bus: nobody resets a host's memory with the core."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import clocks, until
from cocotb_tests.bench.runner import run_module
from cocotb_tests.host.host import Host
from cocotb_tests.host.transfer import opened

MASTERS = ("m_axi", "m_axi_host")


def test_downbeat_host_reset() -> None:
    run_module("DownbeatHost", __name__)


class Bursts:
    """Bursts whose addresses were taken and that have no response yet, by master."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.reads: Counter[str] = Counter()
        self.writes: Counter[str] = Counter()
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            for master in MASTERS:
                self.reads[master] += self._fires(master, "ar")
                self.reads[master] -= self._fires(master, "r") and int(getattr(self.dut, f"{master}_rlast").value)
                self.writes[master] += self._fires(master, "aw") - self._fires(master, "b")

    def _fires(self, master: str, channel: str) -> int:
        valid, ready = (getattr(self.dut, f"{master}_{channel}{name}").value for name in ("valid", "ready"))
        return int(valid) & int(ready)


@cocotb.test()
@cocotb.parametrize(reads=[False, True])
async def a_reset_waits_for_the_ends_of_bursts(dut: Any, reads: bool) -> None:
    host = await Host.create(dut)
    port = host.ports[0]
    await port.start()
    peer, _ = await opened(host)
    bursts = Bursts(dut)
    if reads:
        host.memory.ring_reads.r_channel.pause = True
        await port.listen(80)
        await until(dut, lambda: bursts.reads["m_axi_host"] == 1, "a read of the ring")
    else:
        host.memory.payload.b_channel.pause = True
        peer.send("PA", bytes(1400))
        await until(dut, lambda: bursts.writes["m_axi"] > 0, "a write of the payload")
    await host.registers.write("control", enable=1, softReset=1)
    await clocks(dut, 100)
    assert dut.core_reset.value == 0, "the core is reset with a burst on the bus"
    host.memory.ring_reads.r_channel.pause = False
    host.memory.payload.b_channel.pause = False
    await until(dut, lambda: dut.core_reset.value == 1, "the reset", 1000)
    assert not any((bursts.reads + bursts.writes).values())
    await until(dut, lambda: dut.core_reset.value == 0, "its end", 1000)
    await port.start()
    await port.listen(81)
    assert (await port.response())["reason"] == "none", "the core runs again"
