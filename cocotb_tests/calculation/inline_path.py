# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A path with a FIFO bottleneck and cross traffic at a constant rate, and streams of probes over it. Float arithmetic,
in ns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sim.golden.calculation.inline_measurement import PROBES, Request, Response

SEGMENT, FRAME = 1460, 1502  # bytes
LINK, LINE = 100e6, 1e9  # b/s
CAPACITY = LINK / 8 * SEGMENT / FRAME  # payload, bytes/s
ADJACENT = FRAME * 8e9 / LINE


@dataclass
class Path:
    """`load` of the bottleneck is other traffic's."""

    load: float
    phase: float = 0.0
    round_trip: float = 60e6
    access: float = float("inf")  # b/s, of the link before it
    entered: float = 0.0
    free: float = 0.0
    due: float = field(init=False)

    def __post_init__(self) -> None:
        self.service = FRAME * 8e9 / LINK
        self.due = self.phase * self.period if self.load else float("inf")

    @property
    def period(self) -> float:
        return self.service / self.load

    def arrival(self, departure: float) -> float:
        self.entered = max(self.entered, departure) + FRAME * 8e9 / self.access
        while self.due <= self.entered:
            self.free = max(self.free, self.due) + self.service
            self.due += self.period
        self.free = max(self.free, self.entered) + self.service
        return self.free


def rounds(path: Path, unit: Callable[[Request], Response], count: int, now: float = 1e9) -> Iterator[Response]:
    """K and A after each round of streams, a round trip and the streams' length apart. `unit` answers each request."""
    plan = unit(Request(opens=1, segment_size=SEGMENT))
    for _ in range(count):
        responses: list[Request] = []
        while plan.valid:
            times = [now]
            for number in range(PROBES - 1):
                gap = plan.gap - number * plan.step if number < PROBES - 2 else 0
                times.append(times[-1] + (gap or ADJACENT))
            arrivals = [path.arrival(time) for time in times]
            responses += acknowledged([round(time) for time in times], [round(time) for time in arrivals])
            now = times[-1] + path.round_trip / 32
            plan = unit(Request(completes=1, segment_size=SEGMENT))
        now += path.round_trip
        for response in responses:
            plan = unit(response)
        yield plan


def acknowledged(departures: list[int], arrivals: list[int]) -> Iterator[Request]:
    yield Request(acknowledged=1, begins=1, segment_size=SEGMENT)
    for number in range(1, len(departures)):
        gaps = departures[number] - departures[number - 1], arrivals[number] - arrivals[number - 1]
        yield Request(acknowledged=1, departure_gap=gaps[0], arrival_gap=gaps[1], segment_size=SEGMENT)
