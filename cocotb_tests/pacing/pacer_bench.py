# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The pacer between ports: books, jumps to what it says is next, and compares each grant with the exact model."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from cocotb_tests.bench import StreamSink, StreamSource, generator, start
from cocotb_tests.pacing.pacing_model import LAUNCH_FRACTION, PacedFlow, launch
from cocotb_tests.pacing.virtual_time import HOUR, WRAP, VirtualTime

FLOWS = 16
LEAD = 4000  # ns, the default of DownbeatConfig.grantLead
LAUNCH_BITS = 64


class Bench:
    def __init__(self, dut: Any, *, at: int = WRAP - 20 * HOUR, stall: float = 0.0) -> None:
        self.dut = dut
        self.random: random.Random = generator()
        self.time = VirtualTime(dut, at)
        self.source = StreamSource(dut, "bookings")
        self.sink = StreamSink(dut, "grants", stall=stall)
        self.flows = [PacedFlow(LEAD) for _ in range(FLOWS)]
        self.generations = [0] * FLOWS
        self.waiting: dict[int, Fraction] = {}  # flow to departure
        self.modes: list[int] = []  # how the frames of the grants leave

    async def start(self) -> None:
        await start(self.dut, **self.time.inputs)
        await self.time.quiet()
        assert self.time.next() is None

    @property
    def now(self) -> Fraction:
        return self.time.ns + Fraction(self.time.fraction, LAUNCH_FRACTION)

    def book(self, flow: int, spacing: int, previous_length: int = 0, *, first: bool = False) -> Fraction:
        """Books at the `now` that stands; it must stand until the module is quiet."""
        if first:
            self.generations[flow] = (self.generations[flow] + 1) % 256
        self.source.put(
            {
                "reference_flow": flow,
                "reference_generation": self.generations[flow],
                "first": int(first),
                "paced": int(spacing != 0),
                "interval": spacing,
                "perByte": 1,
                "previousLength": previous_length,
                "adjacent": 0,
                "burst": 0,
            }
        )
        self.waiting[flow] = self.flows[flow].book(self.now, spacing, previous_length, first=first)
        return self.waiting[flow]

    def apart(self, flow: int, interval: int, *, burst: int = 0, adjacent: bool = False) -> Fraction:
        """Books at an interval, ns with 16 fraction bits, whatever the length of the segment before."""
        self.source.put(
            {
                "reference_flow": flow,
                "reference_generation": self.generations[flow],
                "first": 0,
                "paced": 1,
                "interval": interval,
                "perByte": 0,
                "previousLength": self.random.randrange(1 << 14),
                "adjacent": int(adjacent),
                "burst": burst,
            }
        )
        self.waiting[flow] = self.flows[flow].apart(self.now, Fraction(interval, LAUNCH_FRACTION), burst=burst)
        return self.waiting[flow]

    async def quiet(self) -> None:
        await self.source.drained(100_000)
        await self.time.quiet()

    def check_granted(self) -> list[int]:
        """The bookings due within the lead have come, once each with its launch, and no others; returns their flows."""
        due = {flow: at for flow, at in self.waiting.items() if at // 1 <= self.time.ns + LEAD}
        came = self.sink.pending()
        assert sorted(beat["reference_flow"] for beat in came) == sorted(due)
        for beat in came:
            flow = beat["reference_flow"]
            assert beat["reference_generation"] == self.generations[flow]
            shown = beat["launch_ns"] << 16 | beat["launch_fraction"]
            assert shown == launch(due[flow]) % (1 << LAUNCH_BITS)
            self.modes.append(beat["mode"])
            self.flows[flow].granted()
            del self.waiting[flow]
        return list(due)

    async def to_next(self) -> list[int]:
        """Jumps to what the module says is next: the earliest grant, neither early nor late."""
        assert self.time.next() == min(at // 1 for at in self.waiting.values()) - LEAD
        assert await self.time.jump()
        granted = self.check_granted()
        assert granted
        return granted
