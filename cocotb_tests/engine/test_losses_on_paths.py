# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection over drawn paths, beside RACK as RFC 8985 defines it: what the core sends again, and when."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import cocotb

from cocotb_tests.bench import generator
from cocotb_tests.bench.runner import run_module
from cocotb_tests.engine.endpoint import FLOW, GENERATION, MODULE
from cocotb_tests.engine.segment import MODULUS
from cocotb_tests.engine.sender import ROUND_TRIP, Sender
from sim.golden.engine.rack import Rack

SEGMENTS = 60
SPACING = ROUND_TRIP // 64  # ns between segments on the wire
TURNS = 8  # connections of a case


def test_losses_on_paths() -> None:
    run_module(MODULE, __name__)


@dataclass
class Receiver:
    """It acknowledges each segment at once."""

    expected: int = 0
    ranges: list[tuple[int, int]] = field(default_factory=list)  # the newest first

    def arrives(self, number: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The ACK's number, and three blocks at most (RFC 2018 4)."""
        if number >= self.expected:
            touching = [each for each in self.ranges if each[0] <= number + 1 and number <= each[1]]
            left = min([number, *(left for left, _ in touching)])
            right = max([number + 1, *(right for _, right in touching)])
            self.ranges = [(left, right), *(each for each in self.ranges if each not in touching)]
            if left == self.expected:
                self.expected, self.ranges = right, self.ranges[1:]
        return self.expected, tuple(self.ranges[:3])


@dataclass
class Sending:
    """A segment that left, as it was before."""

    number: int
    now: int
    by_timer: bool
    timeout: bool
    overtaken: bool  # something that left later was delivered
    late: int  # ns since RACK found it lost


@dataclass
class Path:
    """A path of ROUND_TRIP that loses a share of the segments, also of those that go again, and of the ACKs; a share of
    the segments is late by up to a quarter of it."""

    sender: Sender
    draw: random.Random
    share: float
    ack_share: float = 0
    late: float = 0
    rack: Rack = field(init=False, default_factory=lambda: Rack(ROUND_TRIP, ROUND_TRIP))
    receiver: Receiver = field(init=False, default_factory=Receiver)
    sendings: list[Sending] = field(init=False, default_factory=list)
    _events: list[tuple[int, int, str, Any]] = field(init=False, default_factory=list)
    _order: Iterator[int] = field(init=False, default_factory=count)
    _wire_free: int = field(init=False, default=0)
    _look: int | None = field(init=False, default=None)  # RACK's timer
    _found: dict[int, int] = field(init=False, default_factory=dict)  # when RACK found it lost

    async def carry(self, segments: int) -> None:
        """Until all are acknowledged."""
        self._leave(await self.sender.write(segments))
        while self.rack.acknowledged < segments:
            deadline = self.sender.endpoint.deadline
            if not self._events or deadline is not None and deadline < self._events[0][0]:
                _, numbers = await self.sender.expire()
                self._look_again()
                self._leave(numbers, by_timer=True)
            else:
                at, _, kind, value = heapq.heappop(self._events)
                await self.sender.endpoint.advance(max(at - self.sender.endpoint.now, 0))
                await self._happens(at, kind, value)

    async def _happens(self, at: int, kind: str, value: Any) -> None:
        endpoint = self.sender.endpoint
        if kind == "arrival":
            reply = self.receiver.arrives(value)
            if not self._draws(self.ack_share):
                self._put(at + ROUND_TRIP // 2, "ack", reply)
        elif kind == "departure":
            end = (self.sender.first + (value + 1) * self.sender.mss) % MODULUS
            place = {"reference_flow": FLOW, "reference_generation": GENERATION, "end_value": end}
            endpoint._put("departed", **place, stamp_ns=at)
            await endpoint.settle()
        else:
            acknowledged, blocks = value
            self._look_again()
            self._look = self.rack.heard(acknowledged, blocks, endpoint.now)
            self._leave(await self.sender.hear(acknowledged, *blocks))

    def _look_again(self) -> None:
        now = self.sender.endpoint.now
        if self._look is not None and self._look <= now:
            self._look = self.rack.detect(now)

    def _leave(self, numbers: list[int], by_timer: bool = False) -> None:
        now, kinds = self.sender.endpoint.now, self.sender.kinds()
        if "loss" in kinds:
            self.rack.loses()
        timeout = not {"timeout", "timeoutAgain"}.isdisjoint(kinds)
        for number in numbers:
            overtaken = number in self.rack.overtaken
            late = now - self._found.pop(number, now)
            self.sendings.append(Sending(number, now, by_timer, timeout, overtaken, late))
            departure = max(now, self._wire_free)
            self._wire_free = departure + SPACING
            self.rack.sent(number, departure)
            self._put(departure, "departure", number)
            if not self._draws(self.share):
                delay = self.draw.randrange(ROUND_TRIP // 4) if self._draws(self.late) else 0
                self._put(departure + ROUND_TRIP // 2 + delay, "arrival", number)
        for number in self.rack.lost:
            self._found.setdefault(number, now)

    def _draws(self, share: float) -> bool:
        return self.draw.random() < share

    def _put(self, at: int, kind: str, value: Any) -> None:
        heapq.heappush(self._events, (at, next(self._order), kind, value))


async def first_sendings(dut: Any, **shares: float) -> AsyncIterator[tuple[Sending, Counter[int]]]:
    """All up to each connection's first timeout, behind which the core does not hear blocks; how often each segment had
    left by then."""
    draw = generator()
    for _ in range(TURNS):
        sender = await Sender.create(dut, ssthresh=65536)
        sender.kinds()
        path = Path(sender, draw, **shares)
        await path.carry(SEGMENTS)
        times: Counter[int] = Counter()
        for each in path.sendings:
            times[each.number] += 1
            yield each, times
            if each.timeout:
                break


@cocotb.test()
@cocotb.parametrize(share=[0.02, 0.1, 0.2])
async def a_segment_goes_again_when_one_that_left_later_has_arrived(dut: Any, share: float) -> None:
    """6.2 step 5. After two lost retransmissions in a row all of them go again."""
    again = 0
    async for each, times in first_sendings(dut, share=share):
        if times[each.number] > 1:
            all_are_lost = sum(number > 2 for number in times.values()) > 1
            assert each.overtaken or each.by_timer or all_are_lost, each
            again += 1
    assert again


@cocotb.test()
@cocotb.parametrize(share=[0.1, 0.2])
@cocotb.parametrize(others=[0, 0.1])
async def a_timeout_is_not_needed_for_what_is_known_to_be_lost(dut: Any, share: float, others: float) -> None:
    """It comes when nothing that left later has arrived, or soon after that."""
    async for each, _ in first_sendings(dut, share=share, ack_share=others, late=others):
        assert not each.timeout or each.late < 2 * ROUND_TRIP, each
