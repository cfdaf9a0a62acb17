# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP Westwood's two estimates of a connection's rate, as rtl/downbeat/calculation/RateEstimate.scala.

BWE takes a sample between two ACKs, ERE one in each interval T_k of its own. Both go through the same filter (tau = 1
s):

    b_k = d_k / dt,  B_k = (B_{k-1} (2 tau - dt) + dt (b_k + b_{k-1})) / (2 tau + dt)

ERE by the Astart slides' rule takes one at each ACK, over a T_k that slides; its tau is the round trip.

Rates are bytes/s and times ns. The result is each rate's window, rate x smallest round trip.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import wrap

SECOND = 10**9  # ns
TAU = SECOND
LONGEST_SAMPLE = TAU // 2
SHORTEST_REST = SECOND // 100
SILENCE = 32 * SECOND  # no estimate outlives it: 0.6^64 2^32 < 1
MAX = (1 << 32) - 1
SHORTEST_INTERVAL = 16  # parts of a round trip, but for zero
SLOTS = 16  # the sum that slides has so many


@dataclass(frozen=True)
class Request(PackedFields):
    """An ACK, as the wires have it."""

    begins: int = 0  # the connection's first
    time: int = 0  # ns, the stamp of its SFD
    acked: int = 0  # bytes that count
    rtt: int = 0  # ns, the latest sample; zero: none yet
    rtt_minimum: int = 0  # ns
    cwnd: int = 0  # bytes, before the ACK

    FIELDS = (("begins", 1), ("time", 48), ("acked", 32), ("rtt", 32), ("rtt_minimum", 32), ("cwnd", 32))


@dataclass(frozen=True)
class Response(PackedFields):
    """Windows in bytes; zero while no round trip is known."""

    bwe: int = 0
    ere: int = 0
    sliding: int = 0

    FIELDS = (("bwe", 32), ("ere", 32), ("sliding", 32))


@dataclass
class Filter:
    """B and the sample before, b_{k-1}."""

    rate: int = 0
    last: int = 0

    def take(self, acked: int, time: int) -> None:
        """A sample of some bytes in some ns, one at least.

        Each whole tau/2 without an ACK is a sample of zero, as ns-2 has it; a rest below 10 ms is none.
        """
        if time > SILENCE:
            self.rate = self.last = 0
            time = LONGEST_SAMPLE
        while time >= LONGEST_SAMPLE + SHORTEST_REST:
            self._step(0, LONGEST_SAMPLE)
            time -= LONGEST_SAMPLE
        self._step(acked, min(time, LONGEST_SAMPLE))

    def _step(self, acked: int, time: int, tau: int = TAU) -> None:
        total = self.rate * (2 * tau - time) + time * self.last + acked * SECOND
        self.rate, self.last = min(total // (2 * tau + time), MAX), min(acked * SECOND // time, MAX)

    def take_rate(self, acked: int, period: int, time: int, tau: int) -> None:
        """A sample of some bytes in `period` ns that stands for `time` ns, for tau / 2 at most."""
        time = min(time, max(tau // 2, 1))
        self._step(acked * time // period, time, tau)

    def window(self, rtt_minimum: int) -> int:
        return min(self.rate * rtt_minimum // SECOND, MAX)


@dataclass
class Bandwidth:
    """BWE: what was acknowledged since the ACK before."""

    filter: Filter = field(default_factory=Filter)
    time: int = 0
    held: int = 0  # bytes of ACKs of the same ns

    def since(self, request: Request) -> tuple[int, int]:
        """Bytes and ns since the last ACK of another time, this one included."""
        return wrap(self.held + request.acked, 32), _since(request.time, self.time)

    def take(self, request: Request) -> None:
        acked, elapsed = self.since(request)
        if elapsed == 0:
            self.held = acked
        else:
            self.filter.take(acked, elapsed)
            self.time, self.held = request.time, 0


@dataclass
class Eligible:
    """ERE without timers: RE in intervals of a round trip (a), samples in intervals of T_k (b).

    An interval ends with the first ACK at or behind its end. An interval of zero is until the next ACK.
    """

    filter: Filter = field(default_factory=Filter)
    started: bool = False
    achieved: int = 0  # RE x smallest round trip, bytes
    a_start: int = 0
    a_length: int = 0
    a_acked: int = 0
    b_start: int = 0
    b_length: int = 0
    b_acked: int = 0

    def take(self, request: Request) -> None:
        if request.rtt == 0:
            return
        if not self.started:
            self.started = True
            self.a_start = self.b_start = request.time
            self.a_length = self.b_length = request.rtt
        while self._ends(request):
            pass
        self.a_acked = wrap(self.a_acked + request.acked, 32)
        self.b_acked = wrap(self.b_acked + request.acked, 32)
        elapsed = _since(request.time, self.b_start)
        if self.b_length == 0 and elapsed > 0:
            self.filter.take(self.b_acked, elapsed)
            self.b_start, self.b_acked, self.b_length = request.time, 0, self._interval(request)

    def _ends(self, request: Request) -> bool:
        """The first interval that is over before the ACK; false if none is."""
        a_elapsed, b_elapsed = _since(request.time, self.a_start), _since(request.time, self.b_start)
        a_late, b_late = a_elapsed - self.a_length, b_elapsed - self.b_length
        b_due = self.b_length > 0 and b_late >= 0
        if a_late >= 0 and (not b_due or a_late >= b_late):
            self.achieved = min(self.a_acked * request.rtt_minimum // self.a_length, MAX)
            # Nothing came in it, so nothing came since.
            self.a_start = wrap(self.a_start + self.a_length) if self.a_acked else request.time
            self.a_acked, self.a_length = 0, request.rtt
            return True
        if b_due:
            silent = self.b_acked == self.achieved == self.filter.last == 0
            self.filter.take(self.b_acked, b_elapsed if silent else self.b_length)
            self.b_start = request.time if silent else wrap(self.b_start + self.b_length)
            self.b_acked, self.b_length = 0, self._interval(request)
            return True
        return False

    def _interval(self, request: Request) -> int:
        """T_k = R (cwnd - RE RTTmin) / cwnd, or until the next ACK if that is not positive."""
        left = request.cwnd - self.achieved
        if left <= 0:
            return 0
        shortest = max(request.rtt, self.a_length) // SHORTEST_INTERVAL
        return max(request.rtt * left // request.cwnd, shortest)


@dataclass
class Sliding:
    """ERE by the Astart slides' rule: S_k = (sum of d_j with t_j > t_k - T_k) / T_k at each ACK.

    The sum is kept in slots, so T_k ends at a slot's begin: it is too long by less than a slot. `slots[0]` is the
    newest.
    """

    filter: Filter = field(default_factory=Filter)
    length: int = 0  # ns that a slot lasts, a power of two; zero: not begun
    start: int = 0  # ns, when the newest slot began
    slots: list[int] = field(default_factory=lambda: [0] * SLOTS)

    def take(self, request: Request, acked: int, gap: int) -> None:
        """`acked` bytes in the `gap` ns since the last ACK of another time."""
        if request.rtt == 0:
            return
        if self.length == 0:
            self.length, self.start = 1 << max((request.rtt >> 3).bit_length() - 1, 0), request.time
        for _ in range(SLOTS):
            if _since(request.time, self.start) >= self.length:
                self.slots = [0, *self.slots[:-1]]
                self.start = wrap(self.start + self.length)
        if _since(request.time, self.start) >= self.length:
            self.start = request.time
        self.slots[0] = min(self.slots[0] + request.acked, MAX)
        if gap == 0:
            return
        gap = min(gap, MAX)
        span = self.span(request)
        counted, period = self.over(request.time, span) if span > gap else (acked, gap)
        self.filter.take_rate(counted, period, gap, min(request.rtt, TAU))

    def over(self, time: int, span: int) -> tuple[int, int]:
        """The bytes of the newest slots that have at least so many ns, or of all, and how many ns they have."""
        age = _since(time, self.start)
        number = min(max(-(-(span - age) // self.length), 0), SLOTS - 1)
        return min(sum(self.slots[: number + 1]), MAX), age + number * self.length

    def span(self, request: Request) -> int:
        """T_k = R (cwnd - RE RTTmin) / cwnd, RE over the last R; zero if that is not positive."""
        acked, period = self.over(request.time, request.rtt)
        left = request.cwnd - min(acked * request.rtt_minimum // period, MAX)
        return request.rtt * left // request.cwnd if left > 0 else 0


@dataclass
class Estimator:
    """The state that the unit keeps of a connection."""

    bandwidth: Bandwidth = field(default_factory=Bandwidth)
    eligible: Eligible = field(default_factory=Eligible)
    sliding: Sliding = field(default_factory=Sliding)

    def response(self, requested: int) -> int:
        request = Request.unpacked(requested)
        if request.begins:
            self.bandwidth, self.eligible, self.sliding = Bandwidth(time=request.time), Eligible(), Sliding()
        acked, gap = self.bandwidth.since(request)
        self.bandwidth.take(request)
        self.eligible.take(request)
        self.sliding.take(request, acked, gap)
        if request.rtt == 0:
            return Response().packed()
        windows = (part.filter.window(request.rtt_minimum) for part in (self.bandwidth, self.eligible, self.sliding))
        return Response(*windows).packed()


def _since(time: int, before: int) -> int:
    """ns modulo 2^48; zero for a time before."""
    elapsed = wrap(time - before)
    return elapsed if elapsed < 1 << 47 else 0


@dataclass(frozen=True)
class RateEstimate:
    name: str = "rateestimate"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        return Estimator().response


CALCULATOR = RateEstimate()
