# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The integer unit, against the draft in floats on the same ACKs."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.golden.congestion.bbr.delivery import Connection, RateSample
from sim.golden.congestion.bbr.draft import Bbr, State, WindowedMax
from sim.golden.congestion.bbr.model import MAX, PrevProbe, Unit
from sim.golden.congestion.bbr.path import Path
from sim.golden.congestion.bbr.request import Request, Response
from sim.golden.congestion.seam import MAXIMUM_WINDOW, wrap

SMSS = 1448
SECOND = 10**9
START = (1 << 48) - (1 << 31)  # ns: instants wrap in the test


@dataclass
class TwoWindows(WindowedMax):
    """The unit's filter of extra_acked: the largest of this half of the window and the last one."""

    halves: tuple[float, float] = (0, 0)
    began: int = 0

    def update(self, value: float, time: int, length: int) -> float:
        if time - self.began >= (length + 1) // 2:
            self.halves, self.began = (0, self.halves[0]), time
        self.halves = (max(self.halves[0], value), self.halves[1])
        return max(self.halves)


@dataclass
class Both(Bbr):
    """The draft, and the unit with the same samples and random numbers. One of them is the sender."""

    unit: Unit = field(default_factory=Unit)
    unit_sends: bool = False
    busy: float = 0.0  # s that the unit needs for a request; ACKs meanwhile are part of the next one
    pauses: bool = False  # the application does; otherwise ProbeRTT alone limits samples
    errors: list[tuple[bool, float, float, float]] = field(default_factory=list)
    states: set[State] = field(default_factory=set)
    newly_lost: int = 0
    undo: bool = False  # with the next ACK
    restarted: bool = False
    _first: bool = False
    _acked: float = 0.0
    _rtt: float = inf
    _next: float = 0.0

    def draw(self) -> float:
        """First 0 or a half, then a part of a second."""
        self._first = not self._first
        now = round(self.now * SECOND)
        return (now & 1) / 2 if self._first else (now & (1 << 30) - 1) / SECOND

    def on_transmit(self, now: float) -> None:
        idle = self.idle_restart
        super().on_transmit(now)
        self.restarted |= self.idle_restart and not idle

    def handle_lost_packet(self, size: float, *rest: Any) -> None:
        self.newly_lost += int(size)
        super().handle_lost_packet(size, *rest)

    def update_on_ack(self, rs: RateSample, now: float) -> None:
        c, unit = self.c, self.unit
        self._acked, self._rtt = self._acked + rs.newly_acked, min(self._rtt, rs.rtt or inf)
        if now < self._next:
            return
        rs.newly_acked, rs.rtt, self._next = self._acked, self._rtt, now + self.busy
        self._acked, self._rtt = 0.0, inf
        if not self.errors:
            rs.newly_acked = 0.0  # the unit counts from its first request on
        undoes = self.undo and not self.newly_lost
        if undoes:
            self.now, self.undo = now, False
            self.handle_spurious_loss_detection()
            unit.cwnd = round(c.cwnd)  # the stage has given it back
        request = Request(
            opens=not self.errors,
            undone=undoes,
            restarted=self.restarted,
            recovering=c.in_loss_recovery,
            cwnd_limited=c.is_cwnd_limited,
            app_limited=rs.is_app_limited and self.pauses,
            segment_size=SMSS,
            delivered=wrap(round(c.delivered), 32),
            prior_delivered=wrap(round(rs.prior_delivered), 32),
            interval=round(rs.interval * SECOND) if rs.delivery_rate else 0,
            lost=wrap(round(c.lost), 32),
            prior_lost=wrap(round(c.lost - rs.lost), 32),
            tx_in_flight=round(rs.tx_in_flight),
            in_flight=round(c.inflight),
            cwnd=unit.cwnd or round(c.cwnd),
            rtt=round(rs.rtt * SECOND),
            now=wrap(START + round(now * SECOND)),
        )
        rs.rtt = request.rtt / SECOND  # equal round trips are equal
        if not self.errors:  # 5.6.2: the first sample
            c.pacing_rate = 2.77 * c.initial_cwnd / rs.rtt
        super().update_on_ack(rs, now)
        response = Response.unpacked(unit.response(request.packed()))
        assert response.cwnd == unit.cwnd
        self.newly_lost, self.restarted = 0, False
        self.states.add(self.state)
        rate = self.bw / SECOND * 2**24
        # In Startup cwnd grows by a whole ACK where it is below max_inflight by a byte.
        allowed = 1 + (self.state is State.STARTUP) * rs.newly_acked
        self.errors.append(
            (
                unit.state is not self.state or unit.limited != rs.is_app_limited,
                max(abs(unit.bw - rate) - 1, 0) / rate,
                max(abs(response.cwnd - c.cwnd) - allowed, 0) / c.cwnd,
                abs(response.spacing / 2**32 * c.pacing_rate / SECOND - 1),
            )
        )
        if self.unit_sends:
            c.cwnd, c.pacing_rate = response.cwnd, 2**32 * SECOND / response.spacing

    def judge(self) -> None:
        """Bandwidth, window and spacing within a percent, but where one of the two is an ACK late in a decision."""
        few = 2 + len(self.errors) // 500
        assert sum(apart for apart, *_ in self.errors) <= few
        for kind in (1, 2, 3):
            assert sum(error[kind] > 0.01 for error in self.errors if not error[0]) <= few


def both(bandwidth: float, round_trip: float, jitter: float = 0.02, **options: Any) -> Path:
    bbr = Both(Connection(SMSS, 10 * SMSS), lambda: 0.0, extra_acked_filter=TwoWindows())
    bbr.random = bbr.draw
    return Path(bbr, bandwidth, round_trip, parts=50, whole=True, jitter=jitter, **options)


@pytest.mark.parametrize(("bandwidth", "round_trip", "every"), [(2.5e5, 0.05, inf), (4.5e8, 0.32, 30)])
def test_bandwidth_window_and_spacing_through_several_probe_rtts(
    bandwidth: float, round_trip: float, every: float
) -> None:
    path = both(bandwidth, round_trip, jitter=0.0, queue=0.2, loss=lambda n: n % every == 0)
    path.run(24.0)
    assert isinstance(path.bbr, Both)
    path.bbr.judge()
    assert State.PROBE_RTT in path.bbr.states


def test_bandwidth_window_and_spacing_on_drawn_paths() -> None:
    """1 Mb/s to 100 Gb/s, 10 us to 1 s; a BDP of two segments to 256 MiB."""
    draw, states, paths = random.Random(55), set(), 0
    while paths < 14:
        bandwidth, round_trip = 10 ** draw.uniform(5.1, 10.1), 10 ** draw.uniform(-5, 0)
        if not 2 * SMSS < bandwidth * round_trip < 2**28:
            continue
        every = draw.choice([inf, inf, 150, 30])
        queue, joins = draw.choice([0.2, 1, 10]), draw.choice([1, 1, 3])
        path = both(bandwidth, round_trip, queue=queue, joins=joins, loss=lambda n, every=every: n % every == 0)
        path.run(max(12 if round_trip > 0.1 else 0, 60 * (round_trip + SMSS / bandwidth)))
        assert isinstance(path.bbr, Both)
        path.bbr.judge()
        states |= path.bbr.states
        paths += 1
    assert states == set(State)


@pytest.mark.parametrize("bandwidth", [1.25e5, 1.25e10])
@pytest.mark.parametrize("round_trip", [1e-5, 0.02])
@pytest.mark.parametrize("busy", [0.0, 15e-6])
def test_the_unit_fills_a_path(bandwidth: float, round_trip: float, busy: float) -> None:
    shortest = round_trip + SMSS / bandwidth
    path, until = both(bandwidth, round_trip, queue=10 * shortest / round_trip), 100 * shortest
    assert isinstance(path.bbr, Both)
    path.bbr.unit_sends, path.bbr.busy = True, busy
    path.run(until / 2)
    before = path.bbr.c.delivered
    path.run(until)
    assert path.bbr.c.delivered - before > 0.9 * bandwidth * until / 2
    assert path.bbr.unit.bw / 2**24 * SECOND == pytest.approx(bandwidth, rel=0.03)
    # Joined ACKs are aggregation to BBR: cwnd allows for those of two requests.
    assert path.backlog < 1.5 * path.bdp + 2 * busy * bandwidth + 6 * SMSS


@pytest.mark.parametrize(("every", "state"), [(8, State.STARTUP), (25, State.UP), (80, None)])
def test_spurious_losses_are_taken_back(every: int, state: State | None) -> None:
    path, undone = both(1.25e6, 0.1, loss=lambda n: n > 60 and n % every == 0), set()
    bbr = path.bbr
    assert isinstance(bbr, Both)

    def see(sample: RateSample) -> None:
        if bbr.c.in_loss_recovery and (bbr.undo_state is not None and path.now < 8 or len(bbr.errors) % 300 == 0):
            bbr.undo = True
            undone.add((bbr.undo_state, bbr.bw_shortterm < inf))

    path.run(12.0, see)
    bbr.judge()
    assert (state, state is None) in undone


def test_idleness_takes_the_place_of_probe_rtt() -> None:
    path = both(1.25e6, 0.05)
    assert isinstance(path.bbr, Both)
    path.bbr.pauses = True
    for until in (4.0, 12.0):
        path.run(until)
        path.source = (path.bbr.c.delivered + path.bbr.c.inflight) / (until + 6)
        path.run(until + 6.01)
        path.source = inf
    path.run(20.0)
    assert State.PROBE_RTT not in path.bbr.states
    path.bbr.judge()


def test_after_a_probe_with_losses_the_next_stops_early_and_without_losses_another_follows() -> None:
    path, states = both(1.25e6, 0.02, queue=10), []
    bbr = path.bbr
    assert isinstance(bbr, Both)
    path.run(0.5)
    while bbr.state is not State.REFILL:
        path.run(path.now + 0.001)
    bound = int(1.1 * path.bdp)
    bbr.prev_probe_too_high, bbr.unit.prev_probe = True, PrevProbe.TOO_HIGH
    bbr.inflight_longterm = bbr.unit.inflight_longterm = bound
    path.run(path.now + 0.3, lambda sample: states.append(bbr.state))
    bbr.judge()
    entered = [state for before, state in pairwise([None, *states]) if state is not before]
    assert [state for state in entered if state is not State.CRUISE][:5] == [
        State.REFILL, State.UP, State.DOWN, State.REFILL, State.UP
    ]  # fmt: skip


@given(st.integers(1, 10**7), st.integers(0, 10**6), st.integers(1, 10**6))
def test_the_flight_at_which_losses_exceed_two_percent(before: int, lost: int, newly: int) -> None:
    draft = Bbr(Connection(SMSS, SMSS, cwnd=0), lambda: 0.0, is_bw_probe_sample=True)
    draft.c.cwnd = 0
    draft.handle_lost_packet(newly, before + newly, lost + newly, False, 0.0)
    unit = Unit(is_bw_probe_sample=True)
    unit.r = Request(tx_in_flight=before + newly, segment_size=SMSS)
    unit.newly_lost, unit.sample_lost = newly, lost + newly
    unit._lose()
    assert (unit.inflight_longterm == MAX) == (draft.inflight_longterm == inf)
    if draft.inflight_longterm < inf:
        assert abs(unit.inflight_longterm - max(draft.inflight_longterm, 0)) <= 1


def test_after_a_timeout_the_window_is_back_when_a_window_is_delivered() -> None:
    path = both(1.25e7, 0.02)
    path.run(0.6)
    assert isinstance(path.bbr, Both)
    unit, c = path.bbr.unit, path.bbr.c
    window, total, window_now = unit.cwnd, round(c.delivered), SMSS
    for acks in range(1, window // SMSS + 3):
        delivered = total + acks * SMSS
        request = Request(
            timed_out=acks == 1, segment_size=SMSS, delivered=delivered, prior_delivered=delivered - SMSS,
            cwnd=window_now, now=START + round(path.now * SECOND) + acks,
        )  # fmt: skip
        before, window_now = window_now, Response.unpacked(unit.response(request.packed())).cwnd
        whole = (acks - 1) * SMSS >= window
        assert window_now >= window if whole else window_now == max(before + SMSS, 4 * SMSS)


@given(st.lists(st.integers(0, (1 << Request.bits()) - 1), max_size=20))
def test_every_request_has_a_response_that_fits(requests: list[int]) -> None:
    unit = Unit()
    for packed in requests:
        response = Response.unpacked(unit.response(packed))
        assert response.cwnd == unit.cwnd <= MAXIMUM_WINDOW
        assert all(0 <= value < 1 << 63 for value in vars(unit).values() if isinstance(value, int))
