# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/examples/ten_gigabit.v, between two clocks of the MAC and a slower one of the core: frames arrive whole or
marked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout

from cocotb_tests.bench import generator, start
from cocotb_tests.bench.runner import ROOT, run_module

MAC_PS = 6400  # 156.25 MHz
STEP = 8 << 16  # 2^-16 ns that `now` gains in a clock
AT, ASAP = 0, 1


def test_ten_gigabit() -> None:
    run_module("BenchFifo", __name__, around=[ROOT / "docs" / "examples" / "ten_gigabit.v"])


async def begun(dut: Any) -> None:
    """Clocks run, resets are over, `now` counts."""
    streams = dict.fromkeys(("rx_tvalid", "rx_tlast", "rx_tuser", "rx_tdata", "rx_tkeep", "m_axis_wire_tx_tvalid"), 0)
    for phase, name in enumerate(("rx", "tx")):
        getattr(dut, f"{name}_reset").value = 1
        Clock(getattr(dut, f"{name}_clk"), MAC_PS, unit="ps").start(start_high=bool(phase))
    await start(dut, reset_clocks=8, now=0, tx_tready=1, s_axis_wire_rx_tready=1, **streams)
    dut.rx_reset.value = dut.tx_reset.value = 0
    cocotb.start_soon(time(dut))
    await ClockCycles(dut.clk, 8)


async def time(dut: Any) -> None:
    for now in itertools.count(STEP, STEP):
        await RisingEdge(dut.clk)
        dut.now.value = now


def beats(frame: bytes) -> Iterator[tuple[int, int, int]]:
    for at in range(0, len(frame), 8):
        part = frame[at : at + 8]
        yield int.from_bytes(part, "little"), (1 << len(part)) - 1, int(at + 8 >= len(frame))


async def arrive(dut: Any, frame: bytes, *, damaged: bool = False) -> None:
    """From the MAC, which does not wait."""
    for data, keep, last in beats(frame):
        dut.rx_tdata.value, dut.rx_tkeep.value, dut.rx_tlast.value = data, keep, last
        dut.rx_tuser.value, dut.rx_tvalid.value = int(damaged and last), 1
        await RisingEdge(dut.rx_clk)
    dut.rx_tvalid.value = 0


async def send(dut: Any, frame: bytes, *, mode: int, launch: int, tag: int, pause: float = 0.0) -> None:
    """From the core, with pauses between its beats."""
    random = generator()
    for data, keep, last in beats(frame):
        while random.random() < pause:
            await RisingEdge(dut.clk)
        dut.m_axis_wire_tx_tdata.value, dut.m_axis_wire_tx_tkeep.value, dut.m_axis_wire_tx_tlast.value = (
            data,
            keep,
            last,
        )
        dut.m_axis_wire_tx_tuser.value, dut.m_axis_wire_tx_tvalid.value = tag << 66 | mode << 64 | launch, 1
        await RisingEdge(dut.clk)
        while not int(dut.m_axis_wire_tx_tready.value):
            await RisingEdge(dut.clk)
        dut.m_axis_wire_tx_tvalid.value = 0


async def taken(dut: Any, clock: Any, name: str) -> tuple[bytes, int, int]:
    """A frame; clocks from its first to its last beat; TUSER of the last, or 0."""
    frame, length, user = b"", 0, 0
    while True:
        await RisingEdge(clock)
        length += bool(frame)
        if not (int(getattr(dut, f"{name}_tvalid").value) and int(getattr(dut, f"{name}_tready").value)):
            continue
        count = int(getattr(dut, f"{name}_tkeep").value).bit_length()
        frame += int(getattr(dut, f"{name}_tdata").value).to_bytes(8, "little")[:count]
        if name == "s_axis_wire_rx":
            user = int(dut.s_axis_wire_rx_tuser.value)
        if int(getattr(dut, f"{name}_tlast").value):
            return frame, length, user


async def received(dut: Any) -> tuple[bytes, bool]:
    frame, _, user = await with_timeout(taken(dut, dut.clk, "s_axis_wire_rx"), 50, "us")
    return frame, bool(user >> 64)


async def sent(dut: Any) -> tuple[bytes, int]:
    frame, length, _ = await with_timeout(taken(dut, dut.tx_clk, "tx"), 50, "us")
    return frame, length


@cocotb.test()
async def received_frames_cross_in_order_and_damage_is_reported(dut: Any) -> None:
    await begun(dut)
    random = generator()
    frames = [random.randbytes(random.randrange(60, 400)) for _ in range(12)]

    async def all_arrive() -> None:
        for number, frame in enumerate(frames):
            await arrive(dut, frame, damaged=number % 3 == 2)
            await ClockCycles(dut.rx_clk, len(frame) // 16)  # the core's clock is slower

    arriving = cocotb.start_soon(all_arrive())
    assert [await received(dut) for _ in frames] == [(frame, number % 3 == 2) for number, frame in enumerate(frames)]
    await arriving


@cocotb.test()
async def without_space_frames_are_dropped_or_marked_and_never_mixed(dut: Any) -> None:
    await begun(dut)
    frames = [bytes([number]) * 1500 for number in range(6)]
    dut.s_axis_wire_rx_tready.value = 0
    for frame in frames:
        await arrive(dut, frame)
    dut.s_axis_wire_rx_tready.value = 1
    kept = [await received(dut) for _ in range(3)]
    assert kept[:2] == [(frames[0], False), (frames[1], False)]
    assert kept[2][1] and frames[2].startswith(kept[2][0][:1000])
    arriving = cocotb.start_soon(arrive(dut, frames[5]))
    assert await received(dut) == (frames[5], False)
    await arriving


@cocotb.test()
async def a_frame_waits_for_its_launch_time_and_its_departure_is_stamped(dut: Any) -> None:
    await begun(dut)
    launch = int(dut.now.value) + 100 * STEP
    sending = cocotb.start_soon(send(dut, b"\x11" * 100, mode=AT, launch=launch, tag=5))
    while not int(dut.s_axis_departure_tvalid.value):
        await RisingEdge(dut.clk)
    tag, stamp = int(dut.s_axis_departure_tdata.value) & 0xFFFF, int(dut.s_axis_departure_tdata.value) >> 16
    assert tag == 5 and launch <= stamp < launch + STEP
    assert (await sent(dut))[0] == b"\x11" * 100
    await sending


@cocotb.test()
async def a_frame_leaves_without_a_gap_though_the_core_pauses(dut: Any) -> None:
    await begun(dut)
    random = generator()
    frames = [random.randbytes(random.randrange(60, 1514)) for _ in range(6)]

    async def all_sent() -> None:
        for frame in frames:
            await send(dut, frame, mode=ASAP, launch=0, tag=0, pause=0.3)

    sending = cocotb.start_soon(all_sent())
    for frame in frames:
        assert await sent(dut) == (frame, (len(frame) - 1) // 8)
    await sending
