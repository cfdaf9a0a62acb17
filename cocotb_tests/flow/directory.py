# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The flow directory on the bench: its streams, and beats for them."""

from __future__ import annotations

import random
from typing import Any

from cocotb_tests.bench import Beat, StreamSink, StreamSource, generator, start, until
from cocotb_tests.flow.model import Directory

FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr")
WIDTHS = {
    "sequence_value": 32,
    "acknowledgment_value": 32,
    "window": 16,
    "length": 14,
    "options_mssValid": 1,
    "options_mss": 16,
    "options_windowScaleValid": 1,
    "options_windowScale": 4,
    "payload_offset": 14,
    "stamp_fraction": 16,
    "stamp_ns": 48,
}


class Bench:
    """All streams of the directory, with a model beside it."""

    def __init__(self, dut: Any, stall: float = 0.0) -> None:
        self.dut = dut
        self.random = generator()
        self.segments = StreamSource(dut, "segments", stall=stall)
        self.opens = StreamSource(dut, "opens", stall=stall)
        self.listens = StreamSource(dut, "listens", stall=stall)
        self.released = StreamSource(dut, "released", stall=stall)
        self.events = StreamSink(dut, "events", stall=stall)
        self.discards = StreamSink(dut, "discards", stall=stall)
        self.refused = StreamSink(dut, "refused", stall=stall)
        # A queue that overflows would drop by chance.
        self.strays = StreamSink(dut, "strays")
        self.model = Directory(secret=self.random.getrandbits(64))

    async def start(self) -> None:
        inputs = {f"addressRead_{reader}_{name}": 0 for reader in (0, 1) for name in ("enable", "flow")}
        await start(self.dut, now_ns=0, now_fraction=0, secret=self.model.secret, **inputs)
        await self.idle()

    async def idle(self, clocks: int = 20_000) -> None:
        """Waits until everything was taken in and nothing moves any more."""
        sources = (self.segments, self.opens, self.listens, self.released)
        await until(
            self.dut,
            lambda: all(source.idle for source in sources) and self.dut.idle.value == 1,
            "an idle directory",
            clocks,
        )
        # What went in at this very edge is seen at the next.
        await until(self.dut, lambda: self.dut.idle.value == 1, "an idle directory", clocks)

    def segment(self, *beats: Beat) -> None:
        for beat in beats:
            self.model.segment(beat)
        self.segments.put(*beats)

    def open(self, *beats: Beat) -> None:
        for beat in beats:
            self.model.open(beat)
        self.opens.put(*beats)

    def listen(self, *beats: Beat) -> None:
        for beat in beats:
            self.model.listen(beat)
        self.listens.put(*beats)

    def release(self, *flows: int) -> None:
        for flow in flows:
            self.model.release(flow)
        self.released.put(*flows)

    async def check(self) -> None:
        """All that the model expects has come, in order, and nothing else."""
        await self.idle()
        model = self.model
        seen = self.events.pending()
        for expected, event in zip(model.events, seen, strict=True):
            assert {name: event[name] for name in expected} == expected
        assert self.strays.pending() == model.strays
        assert [beat["payload"] for beat in self.discards.pending()] == model.discards
        assert self.refused.pending() == model.refused
        for expected_of in (model.events, model.strays, model.discards, model.refused):
            expected_of.clear()
        assert self.dut.freeFlows.value == len(model.free)
        assert self.dut.drops_synNoFlow.value == model.syn_no_flow % 2**32
        assert self.dut.drops_synNoBucket.value == 0
        assert self.dut.drops_noConnection.value == model.no_connection % 2**32
        assert self.dut.drops_resets.value == 0
        assert self.dut.drops_reports.value == model.reports


def segment(draw: random.Random, key: tuple[int, int, int], flags: str = "", **fields: int) -> Beat:
    """A segment of a 4-tuple with the flags named ("syn ack"), everything else drawn; it holds no slot."""
    raised = flags.split()
    beat = {name: draw.getrandbits(width) for name, width in WIDTHS.items()}
    beat |= {f"flags_{name}": int(name in raised) for name in FLAGS}
    beat |= {"remoteMac": draw.getrandbits(48), "payload_held": 0, "payload_slot": 0, "report": 0}
    beat |= dict(zip(("remoteIp", "remotePort", "localPort"), key, strict=True))
    return beat | fields


def parameters(draw: random.Random) -> Beat:
    widths = {"startup": 1, "steady": 1, "initialWindow": 8, "ssthresh": 32, "spacing": 56}
    return {f"parameters_{name}": draw.getrandbits(width) for name, width in widths.items()}


def open_request(draw: random.Random, remote: tuple[int, int], local_port: int = 0) -> Beat:
    return {
        "request": draw.getrandbits(16),
        "remoteMac": draw.getrandbits(48),
        "remoteIp": remote[0],
        "remotePort": remote[1],
        "localPort": local_port,
        **parameters(draw),
    }


def listen_request(draw: random.Random, port: int, *, remove: bool = False) -> Beat:
    return {"request": draw.getrandbits(16), "remove": int(remove), "port": port, **parameters(draw)}
