# SPDX-License-Identifier: BSD-2-Clause-Patent
"""From XGMII to the application: core, registers and the MAC of 10 Gb/s in one top."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from cocotb_tests.bench.runner import run_module
from cocotb_tests.core.gmii_core import XgmiiCore
from cocotb_tests.mac.xgmii import LOCAL_FAULT, PERIOD_PS
from cocotb_tests.test_downbeat_gmii import MSS, both_ways, opened


def test_downbeat_xgmii() -> None:
    run_module("DownbeatXgmii", __name__)


@cocotb.test()
@cocotb.parametrize(transmit=[PERIOD_PS - 1, PERIOD_PS + 1])
async def data_goes_both_ways_with_clocks_apart(dut: Any, transmit: int) -> None:
    core, registers = await XgmiiCore.running(dut, transmit=transmit, receive=2 * PERIOD_PS - transmit)
    await both_ways(core, registers)


@cocotb.test()
async def paced_segments_leave_their_spacing_apart_to_half_a_clock(dut: Any) -> None:
    """1.6 ns a byte: half the link. The spacing counts payload; each SFD is in the first slot at or after its launch."""
    core, _ = await XgmiiCore.running(dut)
    spacing = (16 << 32) // 10
    peer, flow = await opened(core, spacing=spacing)
    core.write(flow, bytes(8 * MSS))
    start = len(core.wire_out.sfd_ps)
    for _ in range(8):
        peer.accept(await peer.receive())
    gaps = [after - before for before, after in itertools.pairwise(core.wire_out.sfd_ps[start:])]
    wanted = MSS * 1600
    assert all(abs(gap - wanted) <= PERIOD_PS // 2 for gap in gaps), gaps
    assert abs(sum(gaps) - len(gaps) * wanted) <= PERIOD_PS // 2, "the remainder is carried, never dropped"


@cocotb.test()
async def a_fault_shows_as_a_link_that_is_down_and_is_counted(dut: Any) -> None:
    core, registers = await XgmiiCore.running(dut)
    peer, _ = await opened(core)
    assert await registers.field("link", "up") == 1
    core.wire_in.phy.source.set_seq_os(LOCAL_FAULT)
    await ClockCycles(dut.clk, 60)
    assert await registers.field("link", "up") == 0
    core.wire_in.phy.source.set_seq_os(None)
    await ClockCycles(dut.clk, 120)
    assert await registers.field("link", "up") == 1
    assert await registers.read("counter_mac_fault_local") == 1
    peer.send("A", b"x")
    peer.send("PA", b"y")
    assert (await peer.receive()).ack == peer.sequence
