# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Link faults as IEEE 802.3 46.3.4 has them: a fault stops frames, and a local one is answered by a remote one."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.mac.mac import XgmiiMac
from cocotb_tests.mac.xgmii import LOCAL_FAULT, REMOTE_FAULT, drive_columns

COUNT, WINDOW = 4, 128  # sets that make a fault; columns without one that end it
SETTLED = 40  # clocks, over all crossings
KINDS = {"local": LOCAL_FAULT, "remote": REMOTE_FAULT}


def test_xgmii_faults() -> None:
    run_module("XgmiiMac", __name__, random_power_up=True)


async def usable(mac: XgmiiMac) -> bool:
    await ClockCycles(mac.dut.clk, SETTLED)
    return bool(mac.dut.linkUsable.value == 1)


async def begun(dut: Any) -> XgmiiMac:
    mac = XgmiiMac(dut)
    await mac.start()
    await drive_columns(dut, [None] * 2 * WINDOW)
    assert await usable(mac)
    return mac


@cocotb.test()
@cocotb.parametrize(kind=list(KINDS), between=[0, 1, 2, WINDOW - 2])
async def four_sets_in_the_window_are_a_fault_and_its_absence_ends_it(dut: Any, kind: str, between: int) -> None:
    mac = await begun(dut)
    sets: list[int | None] = [*[KINDS[kind], *[None] * between] * (COUNT - 1), KINDS[kind]]
    await drive_columns(dut, [*sets, None, None, *[None] * (len(sets) % 2)])
    assert not await usable(mac)
    assert mac.counters("fault") == {kind: 1}
    await ClockCycles(dut.clk, WINDOW // 2)
    assert await usable(mac)
    assert mac.counters("fault") == {kind: 1}


@cocotb.test()
async def fewer_sets_others_and_those_too_far_apart_are_none(dut: Any) -> None:
    mac = await begun(dut)
    local, remote = LOCAL_FAULT, REMOTE_FAULT
    for columns in (
        [local] * 3 + [None],
        [local, local, local, remote] * 8,
        [local, *[None] * (WINDOW + 1)] * COUNT,
        [0, 3, 4, 0x10] * 8,  # reserved, and link interruption (clause 46.3.4, later editions)
    ):
        await drive_columns(dut, columns)
        await drive_columns(dut, [None] * 2 * WINDOW)
        assert await usable(mac)
    assert mac.counters("fault") == {}


@cocotb.test()
@cocotb.parametrize(kind=list(KINDS))
async def a_fault_stops_frames_and_only_a_local_one_is_answered(dut: Any, kind: str) -> None:
    mac = await begun(dut)
    sink = mac.wire_out.sink
    mac.send(bytes(1000))
    await ClockCycles(dut.clk, 180)  # it is on the wire
    mac.wire_in.source.set_seq_os(KINDS[kind])
    departed = await mac.wire_out.receive()
    assert departed.frame == bytes(1000) and departed.fcs_right, "goes out whole"
    sink.get_os()
    await ClockCycles(dut.clk, SETTLED)
    for _ in range(3):
        mac.send(bytes(60))
    await ClockCycles(dut.clk, 100)
    assert sink.get_os()[0] == (REMOTE_FAULT if kind == "local" else None)
    assert sink.empty()
    assert mac.counters("transmit") == {"frames": 1, "linkDown": 3}
    mac.wire_in.source.set_seq_os(None)
    await ClockCycles(dut.clk, WINDOW)
    sink.get_os()
    frame = generator().randbytes(80)
    mac.send(frame)
    assert (await mac.wire_out.receive()).frame == frame
    assert sink.get_os()[0] is None
    assert mac.counters("fault") == {kind: 1}


@cocotb.test()
async def a_frame_is_received_while_a_fault_lasts(dut: Any) -> None:
    """Clause 46.3.4 stops what is sent, not what is received."""
    mac = await begun(dut)
    mac.wire_in.source.set_seq_os(REMOTE_FAULT)
    await ClockCycles(dut.clk, 40)
    frame = generator().randbytes(90)
    mac.wire_in.put(frame)
    assert (await mac.receive.receive()).data == frame
