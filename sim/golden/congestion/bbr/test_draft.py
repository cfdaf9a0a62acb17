# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The draft's equations on a path of known bandwidth, round trip and queue, checked by closed forms. Section numbers are
the draft's."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, inf, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.golden.congestion.bbr.delivery import Connection, RateSample
from sim.golden.congestion.bbr.draft import Bbr, State
from sim.golden.congestion.bbr.path import Path

SMSS = 1448
PATHS = [(1.25e6, 0.02), (1.25e6, 0.1), (6.25e6, 0.02), (2.5e5, 0.4)]  # bytes/s, s


def flow(bandwidth: float, round_trip: float, **options: object) -> Path:
    return Path(Bbr(Connection(SMSS, 10 * SMSS), random.Random(1).random), bandwidth, round_trip, **options)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Entry:
    """The flow as a state is entered."""

    state: State
    now: float
    round: int
    inflight: float
    backlog: float


def record(path: Path, until: float) -> list[Entry]:
    entries: list[Entry] = []

    def see(sample: RateSample) -> None:
        bbr = path.bbr
        if not entries or entries[-1].state is not bbr.state:
            entries.append(Entry(bbr.state, path.now, bbr.round_count, bbr.c.inflight, path.backlog))

    path.run(until, see)
    return entries


def shortest(path: Path) -> float:
    """The round trip of a packet that finds no queue."""
    return path.round_trip + SMSS / path.bandwidth


@pytest.mark.parametrize(("bandwidth", "round_trip"), PATHS)
def test_startup_doubles_each_round_and_leaves_three_rounds_after_the_pipe_is_full(
    bandwidth: float, round_trip: float
) -> None:
    path, extra = flow(bandwidth, round_trip), 0.0
    while path.bbr.state is State.STARTUP:
        path.run(path.now + round_trip / 8)
        extra = max(extra, path.bbr.extra_acked)
    path = flow(bandwidth, round_trip)
    first, drain = record(path, 15 * round_trip)[:2]
    doublings = ceil(log2(max(path.bdp / (10 * SMSS), 1)))
    assert (first.state, drain.state) == (State.STARTUP, State.DRAIN)
    assert drain.round - first.round - doublings - 3 in (0, 1)
    assert path.bbr.max_bw == pytest.approx(bandwidth, rel=0.02)
    # 5.3.1.1: cwnd_gain bounds the queue to one BDP, and the aggregation that is allowed for.
    assert 0.9 * path.bdp < drain.backlog <= path.bdp + extra + 2 * SMSS


@pytest.mark.parametrize(("bandwidth", "round_trip"), PATHS)
def test_drain_empties_the_queue_at_half_the_bandwidth(bandwidth: float, round_trip: float) -> None:
    path = flow(bandwidth, round_trip)
    entries = record(path, 20 * round_trip)
    drain, after = entries[1], entries[2]
    assert after.state in (State.DOWN, State.CRUISE) and after.backlog <= 3 * SMSS
    excess = drain.inflight - bandwidth * shortest(path)
    assert after.now - drain.now == pytest.approx(excess / bandwidth / (1 - 0.99 * 0.5), rel=0.15)


@pytest.mark.parametrize(("bandwidth", "round_trip"), PATHS)
def test_a_probe_each_two_to_three_seconds_or_as_many_rounds_as_the_bdp_has_segments(
    bandwidth: float, round_trip: float
) -> None:
    path, until = flow(bandwidth, round_trip), 12.0 + 60 * round_trip
    entries = record(path, until)
    assert path.bbr.c.delivered > 0.9 * bandwidth * (until - 10 * round_trip)
    bound = ceil(min(bandwidth * shortest(path) / SMSS, 63))
    start, waits = entries[2], 0
    for before, entry in pairwise(entries[1:]):
        if entry.state is State.DOWN or before.state in (State.DRAIN, State.PROBE_RTT):
            start = entry
        if entry.state is State.REFILL:
            assert bound - (entry.round - start.round) in (0, 1) or 2 < entry.now - start.now < 3 + round_trip
            waits += 1
        if entry.state is State.UP:
            assert before.state is State.REFILL and entry.round == before.round + 1
    assert waits > 2


def test_up_grows_the_flight_by_its_gain_in_each_of_three_rounds() -> None:
    path = flow(12.5e6, 0.02)
    entries = record(path, 3.0)
    ends = [(before, entry) for before, entry in pairwise(entries) if before.state is State.UP]
    assert ends
    for up, down in ends:
        assert down.state is State.DOWN and down.round == up.round + 3
        assert down.inflight / up.inflight == pytest.approx((1.25 * 0.99) ** 3, rel=0.05)


def test_probe_rtt_each_five_seconds_for_200_ms_at_half_a_bdp() -> None:
    path = flow(5e5, 0.05)
    flights: list[tuple[float, float]] = []
    path.run(30.0, lambda sample: flights.append((path.now, path.bbr.c.inflight)))
    entries = record(flow(5e5, 0.05), 30.0)
    probes = [(e, after) for e, after in pairwise(entries) if e.state is State.PROBE_RTT]
    assert len(probes) > 3
    for (probe, after), (following, _) in pairwise(probes):
        assert after.state is State.CRUISE and after.round >= probe.round + 1
        low = [now for now, flight in flights if probe.now <= now <= after.now and flight <= path.bdp / 2 + SMSS]
        assert low[-1] - low[0] > 0.2 - 0.01
        assert 0.2 < after.now - probe.now < 0.2 + 4 * path.round_trip
        assert following.now - after.now > 5 - 0.2
    assert path.bbr.min_rtt == pytest.approx(shortest(path), rel=0.001)


def test_more_than_two_percent_of_loss_bounds_the_flight_and_less_does_not() -> None:
    few, many = flow(2.5e6, 0.1, loss=lambda n: n % 100 == 0), flow(2.5e6, 0.1, loss=lambda n: n % 25 == 0)
    few.run(8.0)
    many.run(8.0)
    assert few.bbr.inflight_longterm == inf and few.bbr.full_bw_reached
    assert few.bbr.c.delivered > 0.85 * few.bandwidth * 7
    assert many.bbr.inflight_longterm < inf


def test_a_short_queue_sets_inflight_longterm_where_loss_exceeds_two_percent() -> None:
    path = flow(2.5e6, 0.08, queue=0.3)
    record(path, 1.0)
    seen, before = [], State.STARTUP

    def see(sample: RateSample) -> None:
        nonlocal before
        bbr = path.bbr
        if bbr.prev_probe_too_high and not bbr.is_bw_probe_sample and bbr.state is State.DOWN:
            seen.append(bbr.inflight_longterm)
        if bbr.state is State.CRUISE:  # 5.6.1: the headroom
            assert bbr.c.cwnd <= 0.85 * bbr.inflight_longterm + 1
        if bbr.state is State.CRUISE and before is State.DOWN:
            assert bbr.c.inflight <= min(0.85 * bbr.inflight_longterm, bbr.max_bw * bbr.min_rtt) + 1
        before = bbr.state

    path.run(20.0, see)
    assert seen
    # BDP and queue hold so much; 1 / 0.98 of it loses 2 percent.
    fits = path.bandwidth * shortest(path) + path.queue * path.bdp
    assert all(0.95 * fits < bound < fits / 0.98 + 6 * SMSS for bound in seen)


def test_half_the_bandwidth_is_found_within_two_cycles() -> None:
    path = flow(2.5e6, 0.02, queue=40.0)
    path.run(2.0)
    path.bandwidth /= 2
    path.run(2.0 + 2 * 3.5)
    assert path.bbr.max_bw == pytest.approx(path.bandwidth, rel=0.02)
    assert path.bbr.bw <= path.bbr.max_bw


def test_an_application_limited_flow_without_loss_stays_in_startup() -> None:
    path = flow(1.25e6, 0.02, source=4e5)
    path.run(4.0)
    assert path.bbr.state is State.STARTUP and not path.bbr.full_bw_reached


def test_idleness_takes_the_place_of_probe_rtt() -> None:
    path = flow(1.25e6, 0.02)
    path.run(4.9)
    bbr, c = path.bbr, path.bbr.c
    c.inflight = 0
    c.mark_app_limited()
    bbr.on_transmit(20.0)
    assert bbr.idle_restart and c.pacing_rate == pytest.approx(0.99 * bbr.bw)
    packet = c.on_packet_sent(SMSS, 20.0)
    bbr.update_on_ack(c.on_ack([packet], 20.03), 20.03)
    assert bbr.state is not State.PROBE_RTT and bbr.min_rtt == pytest.approx(0.03) and not bbr.idle_restart


def test_a_spurious_loss_gives_startup_back() -> None:
    path = flow(1.25e6, 0.2, loss=lambda n: n > 60 and n % 8 == 0)
    while path.bbr.state is State.STARTUP:
        path.run(path.now + 0.001)
    bbr = path.bbr
    assert bbr.full_bw_reached and bbr.undo_state is State.STARTUP and bbr.inflight_longterm < inf
    prior = bbr.prior_cwnd
    bbr.handle_spurious_loss_detection()
    assert bbr.state.value == State.STARTUP.value and not bbr.full_bw_reached
    assert bbr.inflight_longterm == inf and bbr.c.cwnd >= prior


@given(st.integers(1, 10**7), st.integers(0, 10**6), st.integers(1, 10**6))
def test_inflight_longterm_is_the_flight_of_which_two_percent_are_lost(before: int, lost: int, size: int) -> None:
    bbr = Bbr(Connection(SMSS, 0), lambda: 0.0, is_bw_probe_sample=True)
    bbr.handle_lost_packet(size, before + size, lost + size, False, 0.0)
    if lost + size > 0.02 * (before + size):
        flight = bbr.inflight_longterm  # `lost`, and what of the packet is within, are 2 percent
        assert flight <= 0 or lost + flight - before == pytest.approx(0.02 * flight, abs=1e-3)
    else:
        assert bbr.inflight_longterm == inf


def until(path: Path, state: State) -> Bbr:
    while path.bbr.state is not state:
        path.run(path.now + path.round_trip / 50)
    return path.bbr


def test_losses_while_cruising_cut_to_seven_tenths_each_round_or_to_what_is_delivered() -> None:
    path = flow(2.5e6, 0.1, queue=40.0)
    path.run(1.0)
    bbr = until(path, State.CRUISE)
    path.bandwidth /= 4
    path.loss = lambda number: number % 40 == 0
    bounds = [(bbr.max_bw, bbr.c.cwnd)]
    losses = []

    def see(sample: RateSample) -> None:
        if len(bounds) == 1 and path.lost:
            losses.append(path.now)
        if bounds[-1] != (bbr.bw_shortterm, bbr.inflight_shortterm) and bbr.bw_shortterm < inf:
            bounds.append((bbr.bw_shortterm, bbr.inflight_shortterm))

    while len(bounds) == 1:
        path.run(path.now + 0.001, see)
    assert path.now - losses[0] > shortest(path)  # a round of losses is whole
    while bbr.state is State.CRUISE:
        path.run(path.now + 0.01, see)
    rates = [rate for rate, _ in bounds]
    assert rates[1:3] == pytest.approx([0.7 * bbr.max_bw, 0.49 * bbr.max_bw], rel=0.001)
    assert bounds[1][1] == pytest.approx(0.7 * bounds[0][1], rel=0.001)
    cuts = [after / before for before, after in pairwise(rates)]
    assert min(cuts) >= 0.699 and max(cuts) > 0.72  # once it is the delivered rate
    assert bbr.state.value == State.REFILL.value and bbr.bw == bbr.max_bw and bbr.inflight_shortterm == inf


def test_up_raises_inflight_longterm_by_1_2_4_8_segments_in_its_rounds() -> None:
    path, bounds = flow(1.25e6, 0.1, queue=40.0), []
    path.run(2.0)
    bbr = until(path, State.REFILL)
    bbr.inflight_longterm = first = 1.05 * path.bdp
    until(path, State.UP)
    path.run(path.now + 0.6, lambda sample: bounds.append((bbr.round_count, bbr.inflight_longterm - first)))
    last = {rounds: raised / SMSS for rounds, raised in bounds}  # at the end of each round
    raised = [after - before for before, after in pairwise([0.0, *last.values()])]
    assert bbr.state is State.UP
    assert raised[1:4] == pytest.approx([2, 4, 8], abs=1) and raised[0] <= 2


def test_acks_in_bursts_are_allowed_for() -> None:
    alone, path = flow(1.25e6, 0.02), flow(1.25e6, 0.02, joins=10)
    for each in (alone, path):
        each.run(3.0)
        until(each, State.CRUISE)
    assert alone.bbr.extra_acked <= 2 * SMSS
    assert 9 * SMSS <= path.bbr.extra_acked <= 20 * SMSS
    assert path.bbr.c.delivered > 0.95 * alone.bbr.c.delivered


def test_a_spurious_loss_gives_the_bounds_and_the_probe_back() -> None:
    bbr = Bbr(Connection(SMSS, 10 * SMSS), lambda: 0.0, state=State.UP, full_bw_reached=True)
    bbr.bw_shortterm, bbr.inflight_shortterm, bbr.inflight_longterm, bbr.c.cwnd = 5.0, 6e4, 7e4, 8e4
    bbr.on_enter_fast_recovery()
    bbr.is_bw_probe_sample, bbr.c.cwnd = True, 1e4
    bbr.handle_lost_packet(SMSS, 3e4, SMSS, False, 0.0)
    assert bbr.state is State.DOWN and bbr.inflight_longterm < 3e4
    bbr.bw_shortterm, bbr.inflight_shortterm, bbr.is_loss_in_round = 1.0, 1e4, True
    bbr.state = State.CRUISE
    bbr.handle_spurious_loss_detection()
    assert bbr.state.value == State.REFILL.value and not bbr.is_loss_in_round and bbr.undo_state is None
    assert (bbr.inflight_longterm, bbr.c.cwnd) == (7e4, 8e4)
    bbr.state, bbr.bw_shortterm, bbr.inflight_shortterm = State.CRUISE, 5.0, 6e4
    bbr.on_enter_fast_recovery()
    bbr.bw_shortterm, bbr.inflight_shortterm = 1.0, 1e4
    bbr.handle_spurious_loss_detection()
    assert (bbr.state.value, bbr.bw_shortterm, bbr.inflight_shortterm) == (State.CRUISE.value, 5.0, 6e4)
