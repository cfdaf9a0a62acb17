# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The MAC's two wires against a PHY that others wrote: cocotbext-eth's GMII source and sink. Their time of a start of
frame is that of the octet behind the SFD, at the edge that reads it."""

from __future__ import annotations

import logging
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource
from cocotbext.eth.constants import ETH_PREAMBLE

from cocotb_tests.bench import bounded, generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.bench.seeded import draws
from cocotb_tests.mac.gmii import padded
from cocotb_tests.mac.mac import LARGEST, PERIOD_PS, Mac, stamp_of

FRAMES = draws(120, 100_000)
AT_ONCE = 20  # frames in the MAC
CLOCK = 8 << 16  # 2^-16 ns that a clock adds to the time


def test_public_phy() -> None:
    run_module("GmiiMac", __name__)


def drawn() -> list[bytes]:
    """All with one EtherType: a MAC passes no MAC control frame (8808) on."""
    random = generator()
    lengths = [random.choice([14, 59, 60, 61, 64, 200, random.randint(60, 300)]) for _ in range(AT_ONCE)]
    return [random.randbytes(12) + b"\x08\x00" + random.randbytes(length - 14) for length in lengths]


def distance(stamp: int, read_ps: int) -> int:
    """From the time of the octet's edge to the stamp, in 2^-16 ns."""
    clocks, rest = divmod(read_ps, PERIOD_PS)
    return stamp - clocks * CLOCK - rest * 65536 // 1000


@cocotb.test()
async def frames_and_their_departures_are_what_its_sink_sees(dut: Any) -> None:
    mac = Mac(dut)
    sink = GmiiSink(dut.gmii_txd, dut.gmii_tx_er, dut.gmii_tx_en, dut.gmii_gtx_clk)
    sink.log.setLevel(logging.ERROR)
    await mac.start()
    distances = set()
    for _ in range(0, FRAMES, AT_ONCE):
        frames = drawn()
        for tag, frame in enumerate(frames, 1):
            mac.send(frame, tag=tag)
        for tag, frame in enumerate(frames, 1):
            seen = await bounded(sink.recv(), "a frame at the public sink", 10_000)
            assert (
                bytes(seen.get_preamble()) == bytes(ETH_PREAMBLE)[1:] and seen.error is None
            )  # it takes one to wake up
            assert bytes(seen.get_payload()) == padded(frame) and seen.check_fcs()
            departed, stamp = await mac.departure()
            assert departed == tag
            distances.add(distance(stamp, seen.sim_time_sfd))
    assert len(distances) == 1, "each stamp is as far from its SFD"


@cocotb.test()
async def frames_of_its_source_arrive_with_its_times(dut: Any) -> None:
    mac = Mac(dut)
    source = GmiiSource(dut.gmii_rxd, dut.gmii_rx_er, dut.gmii_rx_dv, dut.gmii_rx_clk)
    source.log.setLevel(logging.ERROR)
    await mac.start()
    distances = set()
    sent: list[GmiiFrame] = []  # with their times
    for _ in range(0, FRAMES, AT_ONCE):
        frames = drawn()
        for frame in frames:
            await source.send(GmiiFrame.from_payload(frame, tx_complete=sent.append))
        for frame in frames:
            beat = await mac.receive.receive()
            assert beat.data == padded(frame) and beat.extras["error"] == 0
            distances.add(distance(stamp_of(beat.extras), sent.pop(0).sim_time_sfd))
    assert len(distances) == 1, "each stamp is as far from its SFD"


@cocotb.test()
async def its_frame_of_the_largest_size_passes_and_one_with_a_wrong_check_does_not(dut: Any) -> None:
    mac = Mac(dut)
    source = GmiiSource(dut.gmii_rxd, dut.gmii_rx_er, dut.gmii_rx_dv, dut.gmii_rx_clk)
    source.log.setLevel(logging.ERROR)
    await mac.start()
    largest = generator().randbytes(LARGEST)
    broken = GmiiFrame.from_payload(bytes(100))
    broken.data[-1] ^= 1
    for frame in (broken, GmiiFrame.from_payload(largest)):
        await source.send(frame)
    assert (await mac.receive.receive()).data == largest
    await ClockCycles(dut.clk, 100)
    assert mac.counters("receive") == {"frames": 1, "badFcs": 1}
