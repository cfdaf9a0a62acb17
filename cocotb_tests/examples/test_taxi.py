# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/examples/taxi.v between random frames of a core and a model of the streams of taxi_eth_mac_10g."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import AXI_STREAM, FrameSource, clocks, draws, generator, start, until
from cocotb_tests.bench.runner import ROOT, run_module

NS = 1 << 16
CLOCK = 8 * NS  # 2^-16 ns; the bench's clock
LEAD, RX_SFD, TX_SFD = 5 * CLOCK, 3, 11  # 2^-16 ns
AT, ASAP, AFTER_PREVIOUS = range(3)
SILENT_CLOCKS = 3  # FCS, gap and preamble between two frames' beats


def test_taxi() -> None:
    parameters = {"LEAD": LEAD, "RX_SFD": RX_SFD, "TX_SFD": TX_SFD}
    run_module("taxi", __name__, rtl=ROOT / "docs" / "examples", parameters=parameters)


@dataclass
class Mac:
    """Takes a frame's beats one a clock from the first on, and stamps it then; some clocks of gap follow."""

    dut: Any
    frames: list[tuple[int, int, bytes]] = field(default_factory=list)  # first beat's time, tag, bytes

    def start(self) -> None:
        for name, value in {"tx_tready": 1, "tx_cpl_tvalid": 0, "rx_tvalid": 0, "now": 0}.items():
            getattr(self.dut, name).value = value
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        dut, data, begun, silent, now = self.dut, b"", 0, 0, 0
        while True:
            await RisingEdge(dut.clk)
            taken = dut.tx_tvalid.value == 1 and dut.tx_tready.value == 1
            assert taken or not data, "a hole in a frame"
            dut.tx_cpl_tvalid.value = 0
            if taken:
                begun = begun if data else now
                count = int(dut.tx_tkeep.value).bit_length()
                data += int(dut.tx_tdata.value).to_bytes(8, "little")[:count]
                if dut.tx_tlast.value == 1:
                    tag = int(dut.tx_tid.value)
                    self.frames.append((begun, tag, data))
                    dut.tx_cpl_tvalid.value, dut.tx_cpl_tid.value, dut.tx_cpl_tdata.value = 1, tag, begun
                    data, silent = b"", SILENT_CLOCKS
            dut.tx_tready.value = int(silent == 0)
            silent = max(silent - 1, 0)
            now += CLOCK
            dut.now.value = now


async def departures(dut: Any, into: dict[int, int]) -> None:
    while True:
        await RisingEdge(dut.clk)
        if dut.s_axis_departure_tvalid.value == 1:
            value = int(dut.s_axis_departure_tdata.value)
            into[value & 0xFFFF] = value >> 16


@cocotb.test()
async def frames_leave_whole_in_order_and_not_before_their_launch(dut: Any) -> None:
    random = generator()
    mac, stamps = Mac(dut), {}  # type: ignore[var-annotated]
    core = FrameSource(dut, "m_axis_wire_tx", naming=AXI_STREAM, stall=0.2)
    mac.start()
    cocotb.start_soon(departures(dut, stamps))
    await start(dut)
    launch, sent = 100 * CLOCK, []
    for number in range(1, draws(100, 5_000)):
        data = random.randbytes(random.choice([60, 61, 68, random.randrange(60, 1519)]))
        mode, tag = random.choice([AT, AT, ASAP, AFTER_PREVIOUS]), random.choice([number % 65_536, 0])
        launch += random.choice([0, CLOCK, random.randrange(800 * CLOCK)])
        sent.append((data, mode, launch, tag))
        core.put(data, user=tag << 66 | mode << 64 | launch)
    await until(dut, lambda: len(mac.frames) == len(sent), "all frames to leave", 900 * len(sent))
    await clocks(dut, 4)

    free, idle = 0, 0  # when the frame before was out; frames that found the wire free at their launch
    for (begun, tag, data), (given, mode, launch, given_tag) in zip(mac.frames, sent, strict=True):
        assert (data, tag) == (given, given_tag)
        assert begun > free
        early = launch - LEAD
        if mode == AT:
            assert begun >= early
        if mode == AT and early > free + (SILENT_CLOCKS + 2) * CLOCK:
            assert begun < early + 3 * CLOCK
            idle += 1
        free = begun + (-(-len(data) // 8) - 1) * CLOCK
    assert idle > len(sent) // 10
    assert stamps == {tag: begun + TX_SFD for begun, tag, _ in mac.frames if tag}


@cocotb.test()
async def what_arrives_has_its_stamp_and_its_error_where_the_core_reads_them(dut: Any) -> None:
    Mac(dut).start()
    dut.s_axis_wire_rx_tready.value = 0
    await start(dut)
    inputs = {"tdata": 0x0123456789ABCDEF, "tkeep": 0x3F, "tvalid": 1, "tlast": 1, "tuser": 1000 * NS << 1 | 1}
    for name, value in inputs.items():
        getattr(dut, f"rx_{name}").value = value
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    assert dut.rx_tready.value == 0
    for name in ("tdata", "tkeep", "tvalid", "tlast"):
        assert getattr(dut, f"s_axis_wire_rx_{name}").value == inputs[name]
    assert dut.s_axis_wire_rx_tuser.value == 1 << 64 | 1000 * NS + RX_SFD
    dut.s_axis_wire_rx_tready.value = 1
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    assert dut.rx_tready.value == 1
