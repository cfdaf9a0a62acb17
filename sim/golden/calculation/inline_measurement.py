# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ImTCP's inline measurement of a path (Iguchi, thesis, 2.2), as rtl/downbeat/calculation/InlineMeasurement.scala.

Streams of 10 probes tell the capacity K and the available bandwidth A, bytes/s of payload. Times are ns. The integers
are those of the unit's 64-bit rows: every quotient is rounded down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isqrt

from sim.golden.calculation.inline_knee import knee
from sim.golden.congestion.packed_fields import PackedFields

SECOND = 10**9
MAX = (1 << 32) - 1
PROBES = 10
GAPS = PROBES - 2  # gaps of rising rate; the last gap is none
CAPACITIES = 15
RESULTS = 16


@dataclass(frozen=True)
class Request(PackedFields):
    """An event of a connection's probes."""

    opens: int = 0  # the connection is new
    forgets: int = 0  # outstanding probes will have no ACK of their own
    completes: int = 0  # the last probe of a stream has left
    missed: int = 0  # probes, 2 at most, that have no ACK of their own; before the answer
    acknowledged: int = 0
    begins: int = 0  # the answer is that of a stream's first probe
    disturbed: int = 0
    departure_gap: int = 0
    arrival_gap: int = 0
    segment_size: int = 0  # bytes

    FIELDS = (
        ("opens", 1),
        ("forgets", 1),
        ("completes", 1),
        ("missed", 2),
        ("acknowledged", 1),
        ("begins", 1),
        ("disturbed", 1),
        ("departure_gap", 32),
        ("arrival_gap", 32),
        ("segment_size", 16),
    )


@dataclass(frozen=True)
class Response(PackedFields):
    """`tells`: there is a new stream to send. K and A are zero before they are known."""

    tells: int = 0
    valid: int = 0
    alternate: int = 0  # every second segment is a probe
    gap: int = 0  # the first of the stream, between two segments
    step: int = 0  # each later gap is shorter by this
    capacity: int = 0
    available: int = 0

    FIELDS = (
        ("tells", 1),
        ("valid", 1),
        ("alternate", 1),
        ("gap", 32),
        ("step", 32),
        ("capacity", 32),
        ("available", 32),
    )


def trend(rises: int, departures: int, arrivals: int) -> int:
    """The trend of a stream's delays: 1 rising, -1 not, 0 unknown. Sums are of GAPS gaps."""
    total = arrivals - departures
    if rises >= 5 or departures // 10 < total:
        return 1
    return -1 if rises <= 3 and total <= departures // 32 else 0


def choose(trends: Sequence[int]) -> tuple[int, int]:
    """The sub-range that A is in (1 is the fastest; 0: above all, k + 1: below all) and its score."""
    best, chosen, before, total = -len(trends) - 1, 0, 0, sum(trends)
    for number in range(len(trends) + 2):
        own = trends[number - 1] if 1 <= number <= len(trends) else 0
        score = before - (total - before - own)
        if score >= best:
            best, chosen = score, number
        before += own
    return chosen, best


def next_range(results: Sequence[int]) -> tuple[int, int, int]:
    """A and the range to search next."""
    count, total = len(results), sum(results)
    mean = total // count
    half = mean // 10
    if count > 1:
        squares = sum((abs(result - mean) >> 8) ** 2 for result in results)
        half = max(half, isqrt(squares * 983 // (256 * (count - 1) * count)) << 8)
    return mean, max(mean - half, mean // 20), mean + half


@dataclass
class Unit:
    """The state that the unit keeps of one connection."""

    stride: int = 1
    training: bool = True
    streams: int = 1
    sent: int = 0
    done: int = 0
    position: int = 0
    broken: bool = False
    sound: int = 0
    low: int = 0
    high: int = 0
    width: int = 0
    capacity: int = 0
    available: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)
    last: int = 0  # the arrival gap behind them
    rises: int = 0
    verdicts: list[tuple[int, int]] = field(default_factory=list)
    capacities: list[int] = field(default_factory=list)  # gaps
    results: list[int] = field(default_factory=list)
    segment: int = 0
    plan: Response = Response()

    def response(self, packed: int) -> int:
        request = Request.unpacked(packed)
        self.plan = Response()
        if request.opens:
            vars(self).update(vars(Unit()))
            self._begin(request)
        elif request.forgets:
            self._begin(request)
        elif request.completes:
            self.sent += 1
            if self.sent < self.streams:
                self._stream()
        else:
            for _ in range(request.missed):
                if self.position == 0:
                    self._first()
                else:
                    self.position += 1
                self.broken = True
                self._step(request)
            if request.acknowledged:
                self._acknowledge(request)
        return self.plan.packed()

    # ---- answers

    def _first(self) -> None:
        self.position, self.broken, self.gaps, self.rises, self.last = 1, False, [], 0, 0

    def _acknowledge(self, request: Request) -> None:
        if request.begins:
            self._first()
            return
        if self.position == 0:
            return
        departure, arrival = request.departure_gap, request.arrival_gap
        sound = not request.disturbed and departure > 0 and arrival > 1
        self.broken |= not sound
        if self.position <= GAPS:
            self.gaps.append((departure, arrival))
            self.rises += departure // 256 < arrival - departure
        else:
            self.last = arrival
        if sound and (self.training or self.position > GAPS):
            self.capacities = [*self.capacities, arrival // self.stride][-CAPACITIES:]
        self.position += 1
        self._step(request)

    def _step(self, request: Request) -> None:
        """The stream may be complete, and the round with it."""
        if self.position < PROBES:
            return
        self.position = 0
        if self.training:
            if self.broken:
                self.stride = 3 - self.stride
            else:
                span = sum(arrival for _, arrival in self.gaps) + self.last
                self.high = min((PROBES - 1) * self._bytes() // span, MAX)
                self.low, self.training = self.high // 2, False
            self._begin(request)
            return
        verdict = 0, 0
        if not self.broken:
            self.sound += 1
            departures, arrivals = (sum(column) for column in zip(*self.gaps, strict=True))
            high = self.high - self.width * self.done
            value = knee(self.gaps, self._bytes(), high - self.width, high)
            verdict = trend(self.rises, departures, arrivals), value
        self.verdicts.append(verdict)
        self.done += 1
        if self.done == self.streams:
            self._judge()
            self._begin(request)

    def _bytes(self) -> int:
        """Bytes between two probes, times 1 s."""
        return self.segment * SECOND * self.stride

    # ---- rounds

    def _judge(self) -> None:
        if self.sound == 0:
            self.stride = 3 - self.stride
            return
        chosen, score = choose([trend for trend, _ in self.verdicts])
        extent = self.high - self.low
        if score < (self.streams + 1) // 2:
            self.low = max(self.low - extent // 4, self.high // 20)
            self.high += extent // 4
            return
        capacity = self._capacity()
        if chosen > self.streams:
            self.results = []
            self.capacity, self.available = capacity, min(self.low, capacity)
            self.low, self.high = max(self.low - extent // 2, self.high // 10), self.low + extent // 4
            return
        if chosen == 0 and self.high < capacity:
            self.results = []
            self.high += extent // 2
            return
        result = self.verdicts[chosen - 1][1] if chosen else capacity
        self.results = [*self.results, result][-RESULTS:]
        mean, self.low, self.high = next_range(self.results)
        self.capacity, self.available = capacity, min(mean, capacity)

    def _capacity(self) -> int:
        """By the lower quartile of the gaps: other traffic between two probes makes a gap longer."""
        ordered = sorted(self.capacities)
        return min(self.segment * SECOND // ordered[len(ordered) // 4], MAX)

    def _begin(self, request: Request) -> None:
        """A new round."""
        self.segment = request.segment_size
        self.streams, self.sent, self.done, self.position, self.sound, self.verdicts = 1, 0, 0, 0, 0, []
        if not self.training:
            self.high = min(self.high, self._capacity())
            self.low = min(self.low, self.high - self.high // 10)
            self.streams = 4
            if self.high * 5 < self.low * 6:
                self.streams = 3
            if self.high * 20 < self.low * 23:
                self.streams = 2
            self.width = (self.high - self.low) // self.streams
        self._stream()

    def _stream(self) -> None:
        """The next stream to send."""
        gap = step = 0
        if not self.training:
            low = self.high - self.width * (self.sent + 1)
            gap = self._gap(low)
            step = (gap - self._gap(low + self.width * (GAPS - 1) // GAPS)) // (GAPS - 1)
        self.plan = Response(1, 1, self.stride - 1, gap, step, self.capacity, self.available)

    def _gap(self, rate: int) -> int:
        return min(self.segment * SECOND // rate, MAX) if rate else MAX


@dataclass(frozen=True)
class InlineMeasurement:
    name: str = "inlinemeasurement"
    request_bits: int = sum(bits for _, bits in Request.FIELDS)

    def unit(self) -> Callable[[int], int]:
        return Unit().response
