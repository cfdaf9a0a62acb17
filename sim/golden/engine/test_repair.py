# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A recovery as a whole: sender and receiver on a path that keeps order, against what RFC 6675 and RFC 6937 want of
any."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from sim.golden.engine.repair import SEGMENT, Repair
from sim.golden.engine.scoreboard import Range

FLIGHT = 96  # segments
GIVEN = 4  # SACK blocks that an ACK has space for


@dataclass
class Receiver:
    """RFC 2018 4: the block of the newest data first, then the latest reported ones. Segments by number."""

    following: int = 0  # RCV.NXT
    beyond: set[int] = field(default_factory=set)
    given: list[Range] = field(default_factory=list)  # the newest first

    def takes(self, segment: int) -> None:
        self.beyond.add(segment)
        while self.following in self.beyond:
            self.following += 1
        left, right = segment, segment
        while self.holds(left - 1):
            left -= 1
        while self.holds(right):
            right += 1
        given = [other for other in self.given if other[0] >= self.following and not left <= other[0] < right]
        self.given = ([(left, right)] * (left > self.following) + given)[:GIVEN]

    def holds(self, segment: int) -> bool:
        return 0 <= segment < self.following or segment in self.beyond


@dataclass
class Course:
    """The result of a recovery."""

    again: list[int] = field(default_factory=list)  # segments, in order
    held: list[int] = field(default_factory=list)  # those of them that the peer had
    max_again: int = 0  # for one ACK
    max_new: int = 0


def recover(lost: Collection[int], beta: float, ack_loss: int = 0) -> Course:
    """Two flights, less what is lost of them when it goes first, until all is acknowledged. Each `ack_loss`-th ACK is
    lost."""
    receiver, course = Receiver(), Course()
    sender = Repair(
        next=FLIGHT * SEGMENT, end=2 * FLIGHT * SEGMENT, window=FLIGHT * SEGMENT, reduced=int(beta * FLIGHT) * SEGMENT
    )
    network = deque(number for number in range(FLIGHT) if number not in lost)
    acks = 0
    while receiver.following < 2 * FLIGHT:
        assert network, "nothing is in the network any more: only the timer would go on"
        receiver.takes(network.popleft())
        acks += 1
        if ack_loss and acks % ack_loss == 0:
            continue
        base = receiver.following
        blocks: list[Range | None] = [
            ((left - base) * SEGMENT, (right - base) * SEGMENT) for left, right in receiver.given
        ]
        again, new = sender.heard(base * SEGMENT, blocks + [None] * (GIVEN - len(blocks)))
        segments = [first // SEGMENT for first in again]
        course.held += filter(receiver.holds, segments)
        course.again += segments
        course.max_again = max(course.max_again, len(segments))
        course.max_new = max(course.max_new, new // SEGMENT)
        network += segments
        network += set(range((sender.next - new) // SEGMENT, sender.next // SEGMENT)) - set(lost)
        lacks = sum(not receiver.holds(number) for number in range(base, sender.next // SEGMENT))
        assert not new or lacks * SEGMENT <= sender.window, "more is in flight than the window takes"
    return course


LOSSES = {
    "one": [0],
    "nine": range(0, FLIGHT, 11),
    "each fourth": range(0, FLIGHT, 4),
    "each second": range(0, FLIGHT, 2),
    "two of three": [number for number in range(FLIGHT) if number % 3],
    "twenty in a row": range(10, 30),
    "all but the ends": range(10, FLIGHT - 10),
    "those that follow too": range(0, 2 * FLIGHT - 10, 9),
    "each second of those that follow too": range(0, 2 * FLIGHT - 10, 2),
    "a third at random": Random(1).sample(range(FLIGHT - 3), FLIGHT // 3),
}


@pytest.mark.parametrize("beta", [0.5, 0.7])
@pytest.mark.parametrize("lost", LOSSES.values(), ids=LOSSES.keys())
def test_what_is_lost_goes_once_and_nothing_else_does(lost: Sequence[int], beta: float) -> None:
    """RFC 6675 4, with four ranges for up to 91 holes."""
    course = recover(lost, beta)
    assert course.again == sorted(lost)


@pytest.mark.parametrize("lost", LOSSES.values(), ids=LOSSES.keys())
def test_an_ack_lets_no_burst_go(lost: Sequence[int]) -> None:
    """RFC 6937 3: what has been delivered, and a segment more."""
    course = recover(lost, 0.7)
    assert course.max_again <= 2
    assert course.max_new <= 4


@pytest.mark.parametrize("ack_loss", [2, 3, 5])
@pytest.mark.parametrize("lost", LOSSES.values(), ids=LOSSES.keys())
def test_what_lost_acks_hide_goes_again_once(lost: Sequence[int], ack_loss: int) -> None:
    """RFC 6675 4, NextSeg: only what lies beyond HighRxt; the peer's silence costs copies, never the window."""
    course = recover(lost, 0.7, ack_loss)
    assert set(course.again) >= set(lost)
    assert len(course.again) == len(set(course.again))
    assert course.max_again <= 2


def test_what_a_full_scoreboard_forgets_goes_again_two_by_two() -> None:
    """Three of four lost: each ACK tells of three, and a fifth range comes before the hole below the second has
    gone."""
    lost = [number for number in range(FLIGHT - 6) if number % 4]
    course = recover(lost, 0.5)
    assert set(course.again) == {*lost, *course.held}
    assert 0 < len(course.held) < FLIGHT // 4
    assert course.max_again == 2


def test_after_a_rewind_no_more_goes_than_the_window_takes() -> None:
    """RFC 6675 4 (pipe): what is held beyond SND.NXT is not in flight."""
    window, half = FLIGHT * SEGMENT, FLIGHT // 2 * SEGMENT
    sender = Repair(next=window, end=2 * window, window=window, reduced=half)
    blocks: list[Range | None] = [(SEGMENT, window), None, None, None]
    assert sender.heard(0, blocks) == ([0], half - SEGMENT)
    assert sender.rewind() == half
    assert sender.heard(0, blocks) == ([], 0)
    assert sender.heard(SEGMENT, blocks) == ([], SEGMENT)
