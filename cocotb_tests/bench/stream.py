# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Drivers and monitors of SpinalHDL's Stream and Flow and of AXI4-Stream.

A beat is a dict of field name to unsigned value; where the payload has no fields, an int will do.

Who has nothing to do sleeps, and costs no Python at a clock: a source until it is given beats, a monitor until valid
rises.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import Event, First, RisingEdge

from cocotb_tests.bench.ports import SPINAL, Naming, StreamPorts
from cocotb_tests.bench.seeded import generator
from cocotb_tests.bench.wait import DEFAULT_CLOCKS, bounded, until

Beat = dict[str, int]


class BrokenStreamError(AssertionError):
    """A module broke the stream's rule: what is offered stays offered, unchanged, until it is taken."""


class StreamSource:
    """Drives the beats it is given, in order; `stall` is the share of clocks it pauses between beats (0 to below 1)."""

    def __init__(self, dut: Any, name: str, *, naming: Naming = SPINAL, stall: float = 0.0) -> None:
        self.ports = StreamPorts(dut, name, naming)
        self.stall = stall
        self.sent = 0  # beats accepted
        self._dut = dut
        self._random = generator()
        self._queue: deque[Beat] = deque()
        self._driving = False
        self._given = Event()
        self.ports.valid.value = 0
        cocotb.start_soon(self._run())

    def put(self, *beats: Mapping[str, int] | int) -> None:
        """Queues beats and returns at once."""
        for beat in beats:
            fields = {"payload": beat} if isinstance(beat, int) else dict(beat)
            self.ports.check(fields)
            self._queue.append(fields)
        self._given.set()

    async def send(self, *beats: Mapping[str, int] | int, clocks: int = DEFAULT_CLOCKS) -> None:
        """Queues beats and waits until all that is queued was accepted."""
        self.put(*beats)
        await self.drained(clocks)

    async def drained(self, clocks: int = DEFAULT_CLOCKS) -> None:
        """Waits until every queued beat was accepted."""
        # One edge first: the beat that is driven now is accepted there at the earliest.
        await until(self._dut, lambda: self.idle, f"{self.ports.name} to accept every beat", clocks)

    @property
    def idle(self) -> bool:
        return not self._queue and not self._driving

    async def _run(self) -> None:
        ports = self.ports
        while True:
            if self.idle:
                self._given.clear()
                await self._given.wait()
            await RisingEdge(ports.clk)
            accepted = self._driving and (ports.ready is None or ports.ready.value == 1)
            if accepted:
                self._driving = False
                self.sent += 1
            if self._driving:
                continue
            if self._queue and ports.reset.value == 0 and self._random.random() >= self.stall:
                self._driving = True
                ports.valid.value = 1
                ports.write(self._queue.popleft())
            elif accepted:
                ports.valid.value = 0
                # A payload that is not valid is noise: a module that looks at it anyhow shall fail.
                ports.write({field: self._random.getrandbits(width) for field, width in ports.widths.items()})


class StreamMonitor:
    """Collects the beats that pass, without touching them, and checks the stream's rule: what is offered stays offered,
    unchanged, until it is taken."""

    def __init__(self, dut: Any, name: str, *, naming: Naming = SPINAL) -> None:
        self.ports = StreamPorts(dut, name, naming)
        self.beats: Queue[Beat] = Queue()
        self.count = 0  # beats seen
        self._offered: Beat | None = None
        cocotb.start_soon(self._run())

    async def receive(self, clocks: int = DEFAULT_CLOCKS) -> Beat:
        """The next beat, waiting for it."""
        if not self.beats.empty():
            return self.beats.get_nowait()
        return await bounded(self.beats.get(), f"a beat on {self.ports.name}", clocks)

    def pending(self) -> list[Beat]:
        """All beats that are there now, taken from the queue."""
        return [self.beats.get_nowait() for _ in range(self.beats.qsize())]

    async def _run(self) -> None:
        while True:
            await RisingEdge(self.ports.clk)
            if not self._look():
                await RisingEdge(self.ports.valid)

    def _look(self) -> bool:
        """Takes the beat that is there; false if none is offered."""
        ports = self.ports
        if ports.reset.value == 1:
            self._offered = None
            return True
        if ports.valid.value != 1:
            if self._offered is not None:
                raise BrokenStreamError(f"{ports.name}: a beat was withdrawn before it was taken: {self._offered}")
            return False
        beat = ports.read()
        if self._offered not in (None, beat):
            raise BrokenStreamError(f"{ports.name}: an offered beat changed from {self._offered} to {beat}")
        if ports.ready is None or ports.ready.value == 1:
            self._offered = None
            self.count += 1
            self.beats.put_nowait(beat)
        else:
            self._offered = beat
        return True


class StreamSink(StreamMonitor):
    """A monitor that also drives ready; `stall` is the share of clocks without it (0 to below 1, 1 to block)."""

    def __init__(self, dut: Any, name: str, *, naming: Naming = SPINAL, stall: float = 0.0) -> None:
        self._stall = stall
        self._stall_changed = Event()
        self._random = generator()
        super().__init__(dut, name, naming=naming)
        if self.ports.ready is not None:
            self.ports.ready.value = 0

    @property
    def stall(self) -> float:
        return self._stall

    @stall.setter
    def stall(self, share: float) -> None:
        self._stall = share
        self._stall_changed.set()

    async def _run(self) -> None:
        ports = self.ports
        while True:
            await RisingEdge(ports.clk)
            offered = self._look()
            if ports.ready is not None:
                ports.ready.value = int(self._random.random() >= self._stall)
            if not offered and (ports.ready is None or self._stall in (0, 1)):
                self._stall_changed.clear()
                await First(RisingEdge(ports.valid), self._stall_changed.wait())
