# SPDX-License-Identifier: BSD-2-Clause-Patent
"""XGMII (IEEE 802.3 clause 46) with cocotbext-eth's source and sink as the PHY, and the times of SFDs at their lanes."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cocotb.triggers import RisingEdge
from cocotbext.eth import XgmiiFrame, XgmiiSink, XgmiiSource

from cocotb_tests.bench import bounded
from cocotb_tests.mac.gmii import PREAMBLE, SFD, Departed, fcs

IDLE, SEQUENCE, START, TERMINATE, ERROR = 0x07, 0x9C, 0xFB, 0xFD, 0xFE
LOCAL_FAULT, REMOTE_FAULT = 1, 2
LANES = 8
PERIOD_PS = 6400


@dataclass
class Sent:
    """A frame on its way to the MAC."""

    frame: XgmiiFrame
    byte_ps: int

    @property
    def sfd_ps(self) -> int:
        """When the SFD's lane began; cocotbext-eth has the time behind the SFD."""
        return int(self.frame.sim_time_sfd) - self.byte_ps

    @property
    def lane(self) -> int:
        return int(self.frame.start_lane)


class XgmiiWireIn:
    """The PHY's receive side. `source` has the options: `ifg`, `enable_dic`, `force_offset_start`, `set_seq_os`."""

    def __init__(self, data: Any, control: Any, clock: Any, period_ps: int = PERIOD_PS) -> None:
        self.source = XgmiiSource(data, control, clock)
        self.source.log.setLevel(logging.WARNING)
        self._byte_ps = period_ps // LANES

    def put(
        self,
        frame: bytes,
        *,
        preamble: bytes = PREAMBLE,
        check: bytes | None = None,
        errors: frozenset[int] = frozenset(),
        characters: dict[int, int] | None = None,
    ) -> Sent:
        """Queues a frame (which is not padded) with its FCS, or with `check` for one. `characters` are control
        characters at positions of preamble, SFD, frame and FCS; `errors` are positions of error characters."""
        data = bytearray(preamble + bytes([SFD]) + frame + (fcs(frame) if check is None else check))
        control = [0] * len(data)
        for position, code in {**dict.fromkeys(errors, ERROR), **(characters or {})}.items():
            data[position], control[position] = code, 1
        sent = XgmiiFrame(data, control)
        self.source.send_nowait(sent)
        return Sent(self.source.queue._queue[-1], self._byte_ps)

    @property
    def idle(self) -> bool:
        return bool(self.source.idle())


class XgmiiWireOut:
    """The PHY's transmit side."""

    def __init__(self, data: Any, control: Any, clock: Any, period_ps: int = PERIOD_PS) -> None:
        self.sink = XgmiiSink(data, control, clock)
        self._period_ps = period_ps
        self._ended_ps: int | None = None
        self.sink.log.setLevel(logging.WARNING)

    def clear(self) -> None:
        """Forgets what was on the pins before the reset."""
        self.sink.clear()

    async def receive(self, clocks: int = 20_000) -> Departed:
        frame = await bounded(self.sink.recv(), "a frame on XGMII", clocks)
        assert frame.ctrl is None, "control characters in a frame"
        assert frame.data[: len(PREAMBLE) + 1] == PREAMBLE + bytes([SFD])
        byte_ps = self._period_ps / LANES
        # A value that an edge reads came to the pins at the edge before; the sink has the time behind the SFD.
        sfd_ps = frame.sim_time_sfd - byte_ps - self._period_ps
        begins = frame.sim_time_sfd - (len(PREAMBLE) + 1) * byte_ps
        gap = None if self._ended_ps is None else round((begins - self._ended_ps) / byte_ps)
        self._ended_ps = frame.sim_time_end
        return Departed(bytes(frame.get_payload()), round(sfd_ps), gap, frame.check_fcs())


async def drive_columns(dut: Any, columns: Iterable[int | None]) -> None:
    """Puts columns of four lanes on the receive pins, while the source is idle: sequence ordered sets of that code, or
    idle for None."""
    for first, second in zip(*[iter(columns)] * 2, strict=True):
        await RisingEdge(dut.xgmii_rx_clk)
        dut.xgmii_rxd.value = _lanes(first)[0] | _lanes(second)[0] << 32
        dut.xgmii_rxc.value = _lanes(first)[1] | _lanes(second)[1] << 4


def _lanes(code: int | None) -> tuple[int, int]:
    """Data and control bits."""
    return (IDLE * 0x01010101, 0xF) if code is None else (SEQUENCE | code << 24, 0x1)
