# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A board's RGMII pins against a PHY that others wrote: cocotbext-eth's RGMII source and sink. Their clock has its
edges in the middle of each nibble; their time of a start of frame is that of the octet behind the SFD."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import cocotb
from cocotb.task import bridge
from cocotb.triggers import ClockCycles
from cocotbext.eth import GmiiFrame, RgmiiSink, RgmiiSource
from cocotbext.eth.constants import ETH_PREAMBLE

from cocotb_tests.bench import bounded, generator
from cocotb_tests.bench.seeded import draws
from cocotb_tests.board.pins import run_board
from cocotb_tests.board.test_probe_board import BYTE_NS, HERE, THERE, Bench
from cocotb_tests.mac.gmii import padded

FRAMES = draws(12, 300)  # the host fetches each over its UART


def test_public_phy() -> None:
    run_board("ProbeBoard", __name__)


@cocotb.test()
async def probes_leave_as_its_sink_wants_them_and_at_their_times(dut: Any) -> None:
    bench = await Bench.running(dut, cable=False)
    sink = RgmiiSink(dut.txd, dut.tx_ctl, dut.late_clk)
    sink.log.setLevel(logging.ERROR)
    random, board = generator(), bench.board
    lengths = [random.choice((60, 61, 64, random.randint(60, 400))) for _ in range(FRAMES)]
    gaps = [0, *(BYTE_NS * random.randint(600, 900) for _ in lengths[1:])]

    def run() -> None:
        for index, (gap, length) in enumerate(zip(gaps, lengths, strict=True)):
            board.entry(index, gap, length)
        board.write("probeUsed", FRAMES)
        board.start(FRAMES, THERE, HERE)

    await bridge(run)()
    seen = [await bounded(sink.recv(), "a frame at the public sink", 400_000) for _ in range(FRAMES)]
    for frame, length in zip(seen, lengths, strict=True):
        assert bytes(frame.get_preamble()) == bytes(ETH_PREAMBLE) and frame.error is None
        assert len(frame.get_payload()) == length and frame.check_fcs()
    left = [(frame.sim_time_sfd - seen[0].sim_time_sfd) // 1000 for frame in seen]
    assert left == list(itertools.accumulate(gaps))


@cocotb.test()
async def frames_of_its_source_are_captured_with_its_times(dut: Any) -> None:
    bench = await Bench.running(dut, cable=False)
    source = RgmiiSource(dut.rxd, dut.rx_ctl, dut.late_clk)
    source.log.setLevel(logging.ERROR)
    random = generator()
    await bridge(bench.board.capture)(True)
    await ClockCycles(dut.clk, 10)
    frames = [random.randbytes(random.choice((14, 59, 60, 61, 64, random.randint(60, 400)))) for _ in range(FRAMES)]
    broken = GmiiFrame.from_payload(bytes(100))
    broken.data[-1] ^= 1
    sent: list[GmiiFrame] = []  # with their times
    for frame in frames:
        await source.send(GmiiFrame.from_payload(frame, tx_complete=sent.append))
    await source.send(broken)
    await source.wait()
    await ClockCycles(dut.clk, 500)
    *found, last = await bench.captured()
    assert last.wrong == ("badFcs",)
    assert not any(record.wrong for record in found)
    assert [record.head for record in found] == [padded(frame)[:64] for frame in frames]
    assert [record.length for record in found] == [len(padded(frame)) for frame in frames]
    ways = [record.stamp / 65.536 - frame.sim_time_sfd for record, frame in zip(found, sent, strict=True)]  # ps
    assert max(ways) - min(ways) < 1, "each stamp is as far from its SFD"
