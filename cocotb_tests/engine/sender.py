# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection that sends full segments over a path of a known round trip, for tests of recovery."""

from __future__ import annotations

from typing import Any

from cocotb_tests.bench import StreamMonitor
from cocotb_tests.bench.layout import layout
from cocotb_tests.engine.endpoint import FLOW, GENERATION, MILLISECOND, Endpoint
from cocotb_tests.engine.segment import MODULUS, MSS, Options, Segment

ROUND_TRIP = 40 * MILLISECOND  # ns
DEADLINE_STEP = 2**16  # ns
TICK = 2**20  # ns, of TSval


class Sender:
    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.mss = MSS - 12 * (endpoint.options.timestamp is not None)  # bytes, of data
        self.first = 0  # sequence number of the next flight
        self.echo: int | None = None  # TSecr of the ACKs
        self._records = StreamMonitor(endpoint.dut, "trace")

    @classmethod
    async def create(cls, dut: Any, *, timestamps: bool = False, sack: bool = True, **parameters: int) -> Sender:
        """An established connection whose SRTT is ROUND_TRIP."""
        options = Options(sack=sack, timestamp=1000 if timestamps else None)
        endpoint = await Endpoint.connected(dut, options=options, parameters=parameters)
        sender = cls(endpoint)
        endpoint.application("written", 1)
        await endpoint.replies()
        place = {"reference_flow": FLOW, "reference_generation": GENERATION, "end_value": endpoint.ack + 1}
        endpoint._put("departed", **place, stamp_ns=endpoint.now)
        await endpoint.advance(ROUND_TRIP)
        endpoint.ack += 1
        endpoint.send("A")
        await endpoint.silent()
        sender.first = endpoint.ack
        return sender

    async def write(self, count: int) -> list[int]:
        """So many segments of data; the numbers of those that leave, counted from the flight's first."""
        self.endpoint.application("written", count * self.mss)
        return self.numbers(await self.endpoint.replies())

    def proceed(self, count: int) -> None:
        """So many segments are done with; the numbers count from behind them."""
        self.first += count * self.mss

    def numbers(self, segments: list[Segment]) -> list[int]:
        return [(segment.seq - self.first) % MODULUS // self.mss for segment in segments if segment.length]

    async def hear(self, acked: int, *blocks: tuple[int, int], duplicate: bool = False) -> list[int]:
        """An ACK of all before segment `acked`, with blocks of segments; the numbers of those that leave."""
        endpoint = self.endpoint
        endpoint.ack = self.first + acked * self.mss
        fields: dict[str, Any] = {"options_duplicateSack": int(duplicate)}
        for i, (left, right) in enumerate(blocks):
            place = {"valid": 1, "left": (left - acked) * self.mss, "right": (right - acked) * self.mss}
            fields |= {f"options_sack_{i}_{name}": value for name, value in place.items()}
        if self.echo is not None:
            endpoint.tsecr = self.echo
        endpoint.send("A", **fields)
        return self.numbers(await endpoint.replies())

    async def expire(self) -> tuple[int, list[int]]:
        """The timer; the time until it, ns, and the numbers of the segments that leave."""
        passed = await self.endpoint.expire()
        return passed, self.numbers(await self.endpoint.replies())

    def kinds(self) -> list[str]:
        """The events that congestion has seen since the last call, without `none` and `sent`."""
        names = {value: name for name, value in layout()["enums"]["CongestionEventKind"].items()}
        self.records = self._records.pending()
        seen = [names[record["congestion_kind"]] for record in self.records]
        return [name for name in seen if name not in ("none", "sent")]

    def windows(self) -> tuple[int, int]:
        """cwnd and ssthresh after the last of these events, bytes."""
        return self.records[-1]["window_cwnd"] >> 16, self.records[-1]["window_ssthresh"] >> 16

    def until_deadline(self) -> int:
        assert self.endpoint.deadline is not None
        return self.endpoint.deadline - self.endpoint.now


def is_about(time: int, expected: int) -> bool:
    """Rounded up to the deadline's step; some clocks have gone by."""
    return -DEADLINE_STEP // 4 <= time - expected < DEADLINE_STEP
