# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The samples of the log, against the draft's algorithm over every packet, with drawn sends, losses and ACKs."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from sim.golden.congestion.bbr.delivery import Connection, Packet, RateSample
from sim.golden.congestion.seam import DeliverySample
from sim.golden.engine.delivery_rate import Ack, DeliveryMeter
from sim.golden.engine.protocol.sequence import MODULUS

START = MODULUS - 20_000
STEP = 10**5  # ns


@dataclass
class Sender:
    """Segments that leave, are lost or arrive in order, and are acknowledged. Each has a number."""

    draw: random.Random
    size: int
    meter: DeliveryMeter
    loss: float = 0.0
    c: Connection = field(init=False)
    now: int = 0
    next: int = 0
    una: int = 0
    held: set[int] = field(default_factory=set)
    lost: list[int] = field(default_factory=list)  # and not sent again
    again: set[int] = field(default_factory=set)
    path: deque[tuple[int, Packet, bool]] = field(default_factory=deque)
    stamps: list[tuple[int, int]] = field(default_factory=list)
    fills: bool = False  # the last ACK reports nothing beyond all that were reported before

    def __post_init__(self) -> None:
        self.c = Connection(self.size, self.size)

    def end(self, number: int) -> int:
        return (START + self.size * (number + 1)) % MODULUS

    def send(self) -> None:
        again = bool(self.lost)
        number = self.lost.pop(0) if again else self.next
        self.next += not again
        self.again |= {number} if again else set()
        packet = self.c.on_packet_sent(self.size, self.now)
        maximum, lost_now = self.end(self.next - 1), self.size * len(self.lost)
        in_flight = int(self.c.inflight)
        self.meter.sent(self.end(number), self.size, maximum, in_flight, self.now, lost_now, again)
        self.stamps.append((self.end(number), self.now))
        if self.draw.random() < 0.5:
            self.stamp()
        self.path.append((number, packet, not again and self.draw.random() < self.loss))

    def stamp(self) -> None:
        """The stamps of departures come late."""
        for end, departure in self.stamps:
            self.meter.departed(end, departure)
        self.stamps.clear()

    def pause(self) -> None:
        """The application has written nothing more."""
        if not self.lost:
            self.c.mark_app_limited()
            self.meter.limits(int(self.c.inflight))

    def receive(self, segments: int) -> tuple[DeliverySample | None, RateSample] | None:
        """The ACK of so many segments, or of those up to a loss or to data out of order."""
        self.now += self.draw.randrange(1, STEP)
        self.stamp()
        new = []
        for _ in range(segments):
            if not self.path:
                break
            number, packet, dropped = self.path.popleft()
            if not dropped:
                new.append((number, packet))
                self.held.add(number)
            if dropped or self.una not in self.held or max(self.held) > number:
                break
        if not new:
            return None
        before = self.una
        while self.una in self.held:
            self.held.remove(self.una)
            self.una += 1
        right = new[-1][0]
        while right + 1 in self.held:
            right += 1
        missing = [n for n in range(self.una, max(self.held, default=0)) if n not in self.held]
        for number in missing:
            if number not in self.again and number not in self.lost and len([h for h in self.held if h > number]) > 2:
                self.lost.append(number)
                self.c.lost += self.size
                self.c.inflight -= self.size
        sample = self.c.on_ack([packet for _, packet in new], self.now)
        edge, lost_now = self.end(max(self.una - 1, right)), self.size * len(self.lost)
        ack = Ack(
            edge,
            self.end(self.una - 1),
            self.end(self.next - 1),
            self.size * len(new),
            self.now,
            self.size * (self.una - before),
            lost_now,
            int(self.c.inflight),
            segment=self.size,
            rtt_minimum=int(self.c.min_rtt),
        )
        highest = self.meter.highest
        found = self.meter.acknowledged(ack)
        self.fills = self.meter.highest == highest
        return found, sample


def flow(
    draw: random.Random,
    size: int,
    shift: int,
    loss: float,
    flight: int,
    stretch: int,
    pauses: float = 0.01,
    longest: int = 0,
) -> Iterator[tuple[tuple[DeliverySample | None, RateSample], Sender]]:
    """Samples of the meter and of the draft, ACK by ACK, and the flow after it."""
    meter = DeliveryMeter(highest=START, una=START, shift=shift, longest=max(shift, longest), changed_at=START)
    sender = Sender(draw, size, meter, loss)
    for _ in range(4000):
        if draw.random() < pauses:
            sender.pause()
            while sender.path and draw.random() < 0.9:
                if pair := sender.receive(stretch):
                    yield pair, sender
        while sender.c.inflight + size <= flight * size and draw.random() < 0.9:
            sender.now += draw.randrange(1, STEP)
            sender.send()
        if pair := sender.receive(draw.randrange(1, stretch + 1)):
            yield pair, sender


def rate(sample: DeliverySample) -> float:
    before = (sample.delivered - sample.prior_delivered) % MODULUS
    return before / sample.interval if sample.interval else 0.0


@pytest.mark.parametrize("seed", range(4))
def test_with_a_record_of_each_segment_every_ack_has_the_drafts_sample(seed: int) -> None:
    limited = 0
    for (got, exact), _ in flow(random.Random(seed), 2048, 11, 0.0, 32, 4):
        assert got
        assert got.delivered - got.prior_delivered in (exact.delivered, exact.delivered - MODULUS)
        assert rate(got) == exact.delivery_rate
        assert (got.app_limited, got.tx_in_flight, got.lost) == (exact.is_app_limited, exact.tx_in_flight, 0)
        limited += got.app_limited
    assert limited > 50


@pytest.mark.parametrize("seed", range(4))
def test_a_sample_in_a_recovery_is_never_above_the_drafts(seed: int) -> None:
    same = samples = filled = sampled = 0
    for (got, exact), sender in flow(random.Random(seed), 2048, 11, 0.02, 10, 1):
        filled += sender.fills
        sampled += sender.fills and got is not None
        assert sender.meter.lost == sender.c.lost
        assert sender.meter.delivered == sender.c.delivered % MODULUS
        if got:
            assert (got.tx_in_flight, got.lost - got.prior_lost) == (exact.tx_in_flight, exact.lost)
            assert got.in_flight == sender.c.inflight
            assert got.app_limited == exact.is_app_limited
            assert rate(got) <= exact.delivery_rate
            same += rate(got) == exact.delivery_rate
            samples += 1
    assert sender.c.lost > 0 and samples > 2000 and same > 0.8 * samples
    assert filled > 40 and sampled > 0.9 * filled


@pytest.mark.parametrize("shift", [11, 18])
@pytest.mark.parametrize(("stretch", "loss"), [(1, 0.0), (2, 0.0), (8, 0.0), (2, 0.005)])
def test_few_records_of_a_large_flight_tell_the_same_rate(stretch: int, loss: float, shift: int) -> None:
    """The places become larger or smaller until they fit the flight."""
    draw = random.Random(stretch)
    found, right = [], []
    meter = DeliveryMeter()
    for (got, exact), sender in flow(draw, 1460, shift, loss, 300, stretch, pauses=0.0, longest=18):
        if got and got.interval and exact.interval:
            found.append(rate(got))
            right.append(exact.delivered / exact.interval)
        meter = sender.meter
    assert meter.shift in (14, 15)  # 8 to 32 in a flight
    assert len(found) > 4000 * (1 + stretch) / 2 / 300 * 8  # 8 in each round trip
    # The first flights are few places; where places have become larger some records are missing.
    apart = [a / b for a, b in zip(found[10:], right[10:], strict=True) if not 0.9 < a / b < 1.1]
    assert len(apart) <= 3 and all(0.75 < ratio < 1 for ratio in apart)
    # C.first_send_time is that of the last record, on average a 26th of the round trip too old.
    assert sum(found) == pytest.approx(sum(right), rel=0.04)


def test_an_ack_of_what_was_sent_again_too_early_is_no_sample() -> None:
    meter = DeliveryMeter()
    meter.sent(1000, 1000, 1000, 1000, 0, 0, again=False)
    meter.departed(1000, 0)
    meter.sent(1000, 1000, 1000, 1000, 90, 0, again=True)
    meter.departed(1000, 90)
    assert meter.acknowledged(Ack(1000, 1000, 1000, 1000, 110, rtt_minimum=100)) is None
    assert meter.lost == 1000


def test_a_segment_gives_one_sample_when_its_departure_is_known() -> None:
    meter = DeliveryMeter()
    for end in (1000, 2000, 3000):  # the first two have the same place
        meter.sent(end, 1000, end, end, 0, 0, again=False)
    meter.departed(2000, 70)
    meter.departed(1000, 10)
    first, second, third, unknown = (
        meter.acknowledged(Ack(end, end, 3000, 1000, 100)) for end in (1000, 2000, 3000, 9000)
    )
    assert first and first.interval == 100 and meter.first_send == 10
    assert not (second or third or unknown)
