# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The model of the samples, against what RFC 6298 3, RFC 7323 4.2 and Karn's algorithm want of any."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from sim.golden.engine.protocol.sequence import MODULUS, since
from sim.golden.engine.round_trip import NONE, RoundTrips, Sample

SMSS = 1460
FLIGHT = 20  # segments
STEP = 10**6  # ns


@dataclass
class Path:
    """A sender of full segments and a receiver that acknowledges them one by one or two by two."""

    model: RoundTrips
    una: int = MODULUS - 5 * SMSS
    now: int = 0
    highest: int = field(init=False)
    left: dict[int, int] = field(default_factory=dict)  # end of a segment: departure, ns
    twice: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.highest = self.una

    def send(self) -> None:
        self.highest = (self.highest + SMSS) % MODULUS
        self.model.sent(self.highest, full=True, una=self.una, highest=self.highest)
        self.left[self.highest] = self.now
        self.model.departed(self.highest, self.now)

    def send_again(self) -> None:
        end = (self.una + SMSS) % MODULUS
        self.model.sent(end, full=True, una=self.una, highest=self.highest, resent=True)
        self.model.departed(end, self.now)
        self.twice |= {(self.una + k * SMSS) % MODULUS for k in range(1, since(self.highest, self.una) // SMSS + 1)}

    def acknowledge(self, segments: int) -> Sample | None:
        self.una = (self.una + segments * SMSS) % MODULUS
        return self.model.advanced(self.una, self.highest, self.now)


@pytest.mark.parametrize("single", [False, True])
def test_each_sample_is_the_time_of_a_segment_that_was_sent_once(single: bool) -> None:
    draw = random.Random(single)
    path = Path(RoundTrips(single))
    acks = samples = 0
    first_ends = path.una  # SND.MAX at the last first sample
    for _ in range(3000):
        path.now += draw.randrange(1, STEP)
        while since(path.highest, path.una) < FLIGHT * SMSS and draw.random() < 0.9:
            path.send()
        if path.highest == path.una:
            continue
        if draw.random() < 0.01:
            path.send_again()
            continue
        sample = path.acknowledge(min(draw.choice([1, 1, 2]), since(path.highest, path.una) // SMSS))
        acks += 1
        if sample is None:
            continue
        samples += 1
        reached = [path.una] if not single else [path.una, (path.una - SMSS) % MODULUS]
        assert sample.rtt in [
            path.now - path.left[end] for end in reached if end in path.left and end not in path.twice
        ]
        if single or sample.first:
            assert sample.first and since(path.una, first_ends) > 0
            first_ends = path.highest
    assert samples / acks > (0.4 if not single else 0.03)
    assert single == (samples / acks < 0.1)


def test_a_segment_that_ends_in_the_same_place_is_not_timed() -> None:
    """The first of two that end in the same 2 KiB is, and that of two 64 KiB apart."""
    path = Path(RoundTrips(), una=0)
    path.model.sent(100, full=False, una=0, highest=100)
    path.model.sent(200, full=False, una=0, highest=200)
    path.model.sent(65536 + 300, full=False, una=0, highest=65536 + 300)
    for end in (100, 200, 65536 + 300):
        path.model.departed(end, end)
    assert path.model.advanced(100, 65836, 150) == Sample(50, first=True, full=False)
    assert path.model.advanced(200, 65836, 250) is None
    assert path.model.advanced(65836, 65836, 65900) is None


def test_a_record_of_a_connection_that_is_gone_keeps_no_place() -> None:
    model = RoundTrips()
    model.sent(50_000, full=True, una=48_000, highest=50_000)
    model.departed(50_000, 1)
    later = (50_000 + 2**31) % MODULUS
    model.sent(later, full=True, una=later - SMSS, highest=later)
    model.departed(later, 2)
    assert model.advanced(later, later, 5) == Sample(3, first=True, full=True)


def test_the_longest_sample() -> None:
    model = RoundTrips()
    model.sent(100, full=False, una=0, highest=100)
    model.departed(100, 0)
    assert model.advanced(100, 100, 2 * NONE) == Sample(NONE, first=True, full=False)
