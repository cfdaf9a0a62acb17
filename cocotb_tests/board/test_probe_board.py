# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A board at its pins: RGMII, MDIO, and the UART with the host's own program (`downbeat board`) behind it."""

from __future__ import annotations

import itertools
from typing import Any

import cocotb
from cocotb.task import bridge
from cocotb.triggers import ClockCycles, Timer
from downbeat_toe.board.device import PHY_STATES
from downbeat_toe.board.probes import Captured, ProbeBoard
from downbeat_toe.gap import probe

from cocotb_tests.bench import generator
from cocotb_tests.board.phy import GIGABIT_PARTNER, LINK, SLOW_PARTNER
from cocotb_tests.board.pins import Pins, described, run_board

HERE, THERE = "02:00:00:00:00:01", "02:00:00:00:00:02"
BYTE_NS = 8


def test_probe_board() -> None:
    run_board("ProbeBoard", __name__)


class Bench(Pins):
    board: ProbeBoard

    @classmethod
    async def running(cls, dut: Any, *, cable: bool = True, link: bool = True) -> Bench:
        bench = cls(dut)
        await bench.start(cable=cable)
        bench.board = await bridge(ProbeBoard)(bench.host, described("probe_registers"))
        if link:
            while (await bridge(bench.board.phys)())[0] != PHY_STATES[3]:
                await ClockCycles(dut.clk, 1000)
        return bench

    async def captured(self) -> list[Captured]:
        return await bridge(lambda: list(self.board.captured()))()


async def finished(bench: Bench, frames: int) -> list[Any]:
    return [await bench.sink.receive(400_000) for _ in range(frames)]


@cocotb.test()
async def probes_leave_at_their_times_and_come_back_with_them(dut: Any) -> None:
    """The SFD of each is on the first byte time at or after its launch; a pair is back to back."""
    bench = await Bench.running(dut)
    board = bench.board
    lengths = [60, 124, 61, 300, 60, 1514]
    gaps = [0, 5_000, 4_003, 0, 9_999, 20_000]

    def run() -> None:
        board.capture(True)
        for index, (gap, length) in enumerate(zip(gaps, lengths, strict=True)):
            board.entry(index, gap, length, adjacent=index == 3)
        board.write("probeUsed", len(gaps))
        board.start(len(gaps), THERE, HERE, flow=7)

    await bridge(run)()
    sent = await finished(bench, len(gaps))
    for number, (frame, length) in enumerate(zip(sent, lengths, strict=True)):
        assert frame.fcs_right
        assert len(frame.frame) == length
        assert frame.frame[:14] == bytes.fromhex("020000000002 020000000001 88b5")
        assert probe.parse(memoryview(frame.frame)[14:]) == ("7", number)
        assert not any(frame.frame[probe.HEAD.size :])
    stated = [int.from_bytes(frame.frame[30:38], "big") for frame in sent]
    assert [launch - stated[0] for launch in stated] == list(itertools.accumulate(gaps))
    wanted = [-(-launch // BYTE_NS) * BYTE_NS for launch in stated]
    wanted[3] = wanted[2] + (lengths[2] + 24) * BYTE_NS  # right behind the third one's bytes
    left = [(frame.sfd_ps - sent[0].sfd_ps) // 1000 for frame in sent]
    assert left == [launch - wanted[0] for launch in wanted]

    await ClockCycles(dut.clk, 2000)
    found = await bench.captured()
    assert [frame.number for frame in found] == list(range(len(gaps)))
    assert [frame.length for frame in found] == lengths
    assert [frame.head for frame in found] == [frame.frame[:64] for frame in sent]
    assert not any(frame.wrong for frame in found)
    stamps = [(frame.stamp - found[0].stamp) / 65536 for frame in found]
    assert all(abs(stamp - at) <= BYTE_NS / 2 for stamp, at in zip(stamps, left, strict=True)), (stamps, left)
    # From the launch to the stamp: RGMII's one byte time out and two in, and a wire of half a nibble.
    ways = [frame.stamp / 65536 - launch for frame, launch in zip(found, wanted, strict=True)]
    assert all(abs(way - 3 * BYTE_NS) <= BYTE_NS for way in ways), ways
    counters = await bridge(board.counters)()
    assert counters["transmit_frames"] == len(gaps)
    assert counters["transmit_lateArrived"] == 0


@cocotb.test()
async def a_schedule_restarts_behind_its_end_until_it_is_stopped(dut: Any) -> None:
    bench = await Bench.running(dut)
    board = bench.board

    def run() -> None:
        board.entry(0, 3_000, 60)
        board.entry(1, 7_000, 60)
        board.write("probeUsed", 2)
        board.start(1_000_000, THERE, HERE)

    await bridge(run)()
    sent = await finished(bench, 7)
    steps = [(after.sfd_ps - before.sfd_ps) // 1000 for before, after in itertools.pairwise(sent)]
    assert steps == [7000, 3000, 7000, 3000, 7000, 3000]
    await bridge(board.stop)()
    await ClockCycles(dut.clk, 5000)
    assert not await bridge(board.running)()


@cocotb.test()
async def every_frame_that_comes_is_captured_with_its_verdict(dut: Any) -> None:
    bench = await Bench.running(dut, cable=False)
    await bridge(bench.board.capture)(True)
    await ClockCycles(dut.clk, 10)
    frames = [generator().randbytes(length) for length in (60, 61, 64, 1514, 30, 60, 200)]
    times = []
    for index, frame in enumerate(frames):
        check = b"\0\0\0\0" if index == 5 else None
        times.append(await bench.source.send(frame, check=check, error=index == 6))
    await ClockCycles(dut.clk, 500)
    found = await bench.captured()
    wrong = [(), (), (), (), ("runt",), ("badFcs",), ("rxError",)]
    assert [frame.wrong for frame in found] == wrong
    assert [frame.length for frame in found] == [len(frame) for frame in frames]
    for frame, record in zip(frames, found, strict=True):
        assert record.head == frame[:64]
    stamps = [(record.stamp - found[0].stamp) / 65.536 for record in found]  # ps
    good = [index for index in range(len(frames)) if not wrong[index]]
    assert all(abs(stamps[i] - (times[i] - times[0])) <= 4000 for i in good)
    counters = await bridge(bench.board.counters)()
    assert [counters[f"receive_{cause}"] for cause in ("frames", "runt", "badFcs", "rxError")] == [4, 1, 1, 1]


@cocotb.test()
async def frames_that_the_host_does_not_fetch_are_counted_and_leave_whole_records(dut: Any) -> None:
    bench = await Bench.running(dut, cable=False)
    await bridge(bench.board.capture)(True)
    await ClockCycles(dut.clk, 10)
    sent = 430
    for number in range(sent):
        await bench.source.send(number.to_bytes(4, "big") + bytes(56), gap=12)
    await ClockCycles(dut.clk, 100)
    lost = await bridge(bench.board.read)("captureLost")
    level = await bridge(bench.board.read)("captureLevel")
    assert level % 10 == 0
    assert lost + level // 10 == sent
    assert 0 < lost < 40
    first = await bridge(lambda: next(bench.board.captured()))()
    assert first.head[:4] == bytes(4)
    assert dut.broken.value == 0, "rules of the SDRAM (sdram.v)"


@cocotb.test()
async def a_phy_offers_gigabit_alone_after_its_reset(dut: Any) -> None:
    bench = await Bench.running(dut)
    offers = [(4, 0x0001), (9, 0x0200), (0, 0x1200)]
    assert bench.phys.writes == [(phy, *offer) for phy in (0, 1) for offer in offers]


@cocotb.test()
async def a_partner_of_10_or_100_is_refused_in_words_and_gets_no_frame(dut: Any) -> None:
    bench = await Bench.running(dut)
    board = bench.board
    bench.phys.registers[0] |= {5: SLOW_PARTNER, 10: 0}
    bench.phys.registers[1] |= {1: 0}
    await ClockCycles(dut.clk, 15_000)
    assert await bridge(board.phys)() == [PHY_STATES[2], PHY_STATES[1]]

    def run() -> None:
        board.entry(0, 0, 60)
        board.write("probeUsed", 1)
        board.start(1, THERE, HERE)

    await bridge(run)()
    await Timer(1200, "us")
    counters = await bridge(board.counters)()
    assert (counters["transmit_linkDown"], counters["transmit_frames"]) == (1, 0)
    assert bench.sink.frames.empty()
    bench.phys.registers[0] |= {1: LINK, 10: GIGABIT_PARTNER}
    await ClockCycles(dut.clk, 15_000)
    assert (await bridge(board.phys)())[0] == PHY_STATES[3]


@cocotb.test()
async def the_host_reads_and_writes_any_register_of_a_phy(dut: Any) -> None:
    bench = await Bench.running(dut, link=False)
    board = bench.board
    assert await bridge(board.mdio_read)(1, 2) == 0x0362
    await bridge(board.mdio_write)(1, 0x1C, 0x8C00)
    assert bench.phys.registers[1][0x1C] == 0x8C00
    assert await bridge(board.mdio_read)(9, 2) == 0xFFFF, "nobody there"


@cocotb.test()
async def a_board_says_its_name_and_its_time(dut: Any) -> None:
    bench = await Bench.running(dut, link=False)
    assert await bridge(lambda: bench.board.name)() == "colorlight-i9"
    first = await bridge(bench.board.now)()
    await Timer(100, "us")
    second = await bridge(bench.board.now)()
    assert 100_000 <= second - first <= 400_000
