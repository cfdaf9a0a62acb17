# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The unit of BBR in integers: one request is one ACK of the draft (draft.py), or several that came while it was busy.

Bandwidths are bytes/ns with 24 fraction bits, volumes bytes, times ns, gains have 10 fraction bits, quotients are
rounded down. Totals of bytes count modulo 2^32, instants modulo 2^48. Departs from the draft:

- HandleLostPacket() once for each request, with the snapshot of its sample;
- "discontiguous ranges" that Startup lost in a round are requests with losses;
- the losses of a round are forgotten when they were spurious;
- extra_acked has the largest of this and the last 5 rounds, in Startup of this and the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from sim.golden.calculation.divider import quotient
from sim.golden.congestion.bbr.draft import State
from sim.golden.congestion.bbr.request import MANTISSA_BITS, NO_RTT, VOLUME_BITS, Request, Response
from sim.golden.congestion.seam import MAXIMUM_WINDOW, wrap

MAX = (1 << VOLUME_BITS) - 1  # infinity, for bandwidths and volumes
BANDWIDTH_FRACTION = 24
GAIN_FRACTION = 10
PACING_GAIN = dict(zip(State, (2836, 512, 922, 1024, 1024, 1280, 1024), strict=True))
CWND_GAIN = dict(zip(State, (2048, 2048, 2048, 2048, 2048, 2304, 512), strict=True))
BETA, HEADROOM = 717, 154
PROBE_BW = (State.DOWN, State.CRUISE, State.REFILL, State.UP)
PROBING = (State.STARTUP, State.REFILL, State.UP)
SECOND = 10**9
MIN_RTT_FILTER_LEN, PROBE_RTT_INTERVAL, PROBE_RTT_DURATION = 10 * SECOND, 5 * SECOND, SECOND // 5


def scaled(gain: int, value: int) -> int:
    return gain * value >> GAIN_FRACTION


def since(total: int, mark: int) -> int:
    """Zero if the total is below the mark."""
    growth = wrap(total - mark, 32)
    return growth if growth < 1 << 31 else 0


def reached(total: int, mark: int) -> bool:
    return wrap(total - mark, 32) < 1 << 31


class PrevProbe(IntEnum):
    """How the last probe for bandwidth ended."""

    NEITHER = 0
    TOO_HIGH = 1  # by losses
    PRECAUTIONARY = 2  # before the flight at which one before it was too high


@dataclass
class Unit:
    """The rows of a connection. r is the request; rate, sampled and sample_lost are of its sample."""

    r: Request = field(default_factory=Request)
    rate: int = 0
    sampled: int = 0  # bytes
    sample_lost: int = 0
    acked: int = 0  # since the last request
    newly_lost: int = 0  # since the last request
    limited: bool = False
    round_start: bool = False
    loss_round_start: bool = False
    cwnd: int = 0
    # Rows from here on
    delivered: int = 0  # totals of the last request
    lost: int = 0
    state: State = State.STARTUP
    paced: int = 0  # bandwidth x pacing gain
    next_round_delivered: int = 0
    idle_restart: bool = False
    limits: bool = False  # samples of what left in a total between these two are application limited
    limited_from: int = 0
    limited_until: int = 0
    recovering: bool = False
    recover: int | None = None  # the total that ends the recovery of a timeout
    max_bw: int = 0
    max_bw_filter: tuple[int, int] = (0, 0)  # this cycle's and the last one's
    bw: int = 0
    bw_shortterm: int = MAX
    inflight_longterm: int = MAX
    inflight_shortterm: int = MAX
    extra_acked: tuple[int, int] = (0, 0)  # in these rounds and the last ones
    extra_rounds: int = 0
    extra_start: int = 0
    extra_delivered: int = 0
    full_bw_reached: bool = False
    full_bw_now: bool = False
    full_bw: int = 0
    full_bw_count: int = 0
    drain_rounds: int = 0
    loss_events: int = 0  # in this round
    stopping: bool = False  # ACKS_PROBE_STOPPING; no other phase has a consequence
    is_bw_probe_sample: bool = False
    bw_probe_up_acked: int = 0
    probe_up_acked_per_inc: int = MAX
    bw_probe_up_rounds: int = 0
    rounds_since_probe_up: int = 0
    bw_probe_wait: int = 0
    cycle_stamp: int = 0
    prev_probe: PrevProbe = PrevProbe.NEITHER
    bw_latest: int = 0
    inflight_latest: int = 0
    loss_round_delivered: int = 0
    prior_cwnd: int = 0
    undo_state: State | None = None
    undo: tuple[int, int, int] = (0, 0, 0)  # bw_shortterm, inflight_shortterm, inflight_longterm
    min_rtt: int = NO_RTT
    min_rtt_stamp: int = 0
    probe_rtt_min_delay: int = NO_RTT
    probe_rtt_min_stamp: int = 0
    probe_rtt_low_stamp: int | None = None  # little is in flight since then
    probe_rtt_round_done: bool = False

    def response(self, packed: int) -> int:
        r = Request.unpacked(packed)
        if r.opens:
            vars(self).update(vars(Unit(cwnd=r.cwnd, delivered=r.delivered, lost=r.lost)))
            self.extra_start = self.min_rtt_stamp = self.probe_rtt_min_stamp = r.now
            first = quotient(r.initial_window * r.segment_size << BANDWIDTH_FRACTION, self._srtt(r), VOLUME_BITS)
            self.paced = first * PACING_GAIN[State.STARTUP] * 100 // 99
        self.r = r
        self.acked, self.newly_lost = since(r.delivered, self.delivered), since(r.lost, self.lost)
        self.delivered, self.lost = r.delivered, r.lost
        self.sampled, self.sample_lost = since(r.delivered, r.prior_delivered), since(r.lost, r.prior_lost)
        self._recover()
        if r.restarted:
            self._restart()
        if self.newly_lost:
            self._lose()
        self.rate = quotient(self.sampled << BANDWIDTH_FRACTION, r.interval, VOLUME_BITS) if r.interval else 0
        self.limits = self.limits and reached(self.limited_until, r.prior_delivered)
        self.limited = bool(r.app_limited) or self.limits and reached(r.prior_delivered, self.limited_from)
        self._signal()
        self._aggregate()
        self._check_full_bw()
        self._check_startup_and_drain()
        self._advance_cycle()
        self._update_min_rtt()
        self._check_probe_rtt()
        if self.loss_round_start:
            self.bw_latest, self.inflight_latest = self.rate, self.sampled
        self.bw = min(self.max_bw, self.bw_shortterm)
        paced = self.bw * PACING_GAIN[self.state]
        if self.full_bw_reached or paced > self.paced:
            self.paced = paced
        self._set_cwnd()
        spacing = (1 << 63) // max(self.paced * 99 // 800, 129)  # 56 bits
        exponent = max(spacing.bit_length() - MANTISSA_BITS, 0)
        return Response(self.cwnd, spacing >> exponent, exponent).packed()

    @staticmethod
    def _srtt(r: Request) -> int:
        return r.rtt if r.rtt != NO_RTT else SECOND // 1000

    def _since(self, stamp: int) -> int:
        return wrap(self.r.now - stamp)

    # ---- recovery, and what was lost

    def _recover(self) -> None:
        r = self.r
        if r.undone:
            self._take_back()
        if r.timed_out:
            self.recover = wrap(r.delivered + self.cwnd, 32)
        elif self.recover is not None and reached(r.delivered, self.recover):
            self.recover = None
        recovering = bool(r.recovering) or self.recover is not None
        if r.timed_out or recovering and not self.recovering:
            self._save()
        ends, self.recovering = self.recovering and not recovering, recovering
        self.cwnd = max(r.cwnd, self.prior_cwnd) if ends else r.cwnd

    def _save(self) -> None:
        self._save_cwnd()
        self.undo_state = None
        self.undo = (self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm)

    def _save_cwnd(self) -> None:
        saved = self.recovering or self.state is State.PROBE_RTT
        self.prior_cwnd = max(self.prior_cwnd if saved else 0, self.cwnd)

    def _take_back(self) -> None:
        """HandleSpuriousLossDetection(). The stage gives back the window."""
        self.loss_events = 0
        self._reset_full_bw(0)
        self.bw_shortterm = max(self.bw_shortterm, self.undo[0])
        self.inflight_shortterm = max(self.inflight_shortterm, self.undo[1])
        self.inflight_longterm = max(self.inflight_longterm, self.undo[2])
        if self.undo_state is State.STARTUP and self.state is not State.STARTUP:
            self.full_bw_reached = False
            if self.state is not State.PROBE_RTT:
                self.state = State.STARTUP
        elif self.undo_state is State.UP and self.state not in (State.UP, State.PROBE_RTT):
            self._start_refill()
        self.undo_state = None

    def _restart(self) -> None:
        self.idle_restart, self.extra_delivered, self.extra_start = True, 0, self.r.now
        if self.state is State.PROBE_RTT:
            self._check_probe_rtt_done()

    def _lose(self) -> None:
        r = self.r
        if not self.loss_events:
            self.loss_round_delivered = r.delivered
            self._save()
        self.loss_events = min(self.loss_events + 1, 15)
        if self.is_bw_probe_sample and self._too_high():
            # inflight_prev + (2 % inflight_prev - lost_prev) / 98 %, which is (inflight_prev - lost_prev) / 98 %
            at_loss = max(50 * (r.tx_in_flight - self.sample_lost), 0) // 49
            self.prev_probe, self.is_bw_probe_sample = PrevProbe.TOO_HIGH, False
            if not r.app_limited:
                self.inflight_longterm = max(at_loss, scaled(BETA, self._target()))
            if self.state is State.UP:
                self.undo_state = State.UP
                self._start_down()

    def _too_high(self) -> bool:
        return 50 * self.sample_lost > self.r.tx_in_flight or (self.sample_lost > 0 and not self.r.selective)

    # ---- the model

    def _signal(self) -> None:
        r = self.r
        self.bw_latest, self.inflight_latest = max(self.bw_latest, self.rate), max(self.inflight_latest, self.sampled)
        self.loss_round_start = reached(r.prior_delivered, self.loss_round_delivered)
        if self.loss_round_start:
            self.loss_round_delivered = r.delivered
        self.round_start = reached(r.prior_delivered, self.next_round_delivered)
        if self.round_start:
            self.next_round_delivered = r.delivered
            self.drain_rounds = min(self.drain_rounds + 1, 63)
            self.rounds_since_probe_up = min(self.rounds_since_probe_up + 1, 63)
            self.extra_rounds += 1
        if self.rate > 0 and (self.rate >= self.max_bw or not self.limited):
            self.max_bw_filter = (max(self.max_bw_filter[0], self.rate), self.max_bw_filter[1])
            self.max_bw = max(self.max_bw_filter)
        if not self.loss_round_start:
            return
        if self.state not in PROBING and self.loss_events:
            bandwidth = self.max_bw if self.bw_shortterm >= MAX else self.bw_shortterm
            volume = self.cwnd if self.inflight_shortterm >= MAX else self.inflight_shortterm
            self.bw_shortterm = max(self.bw_latest, scaled(BETA, bandwidth))
            self.inflight_shortterm = max(self.inflight_latest, scaled(BETA, volume))

    def _aggregate(self) -> None:
        expected = self.bw * min(self._since(self.extra_start), (1 << 32) - 1) >> BANDWIDTH_FRACTION
        if self.extra_delivered <= expected:
            self.extra_delivered, self.extra_start, expected = 0, self.r.now, 0
        self.extra_delivered = min(self.extra_delivered + self.acked, MAX)
        extra = min(self.extra_delivered - expected, self.cwnd)
        if self.extra_rounds >= (5 if self.full_bw_reached else 1):
            self.extra_acked, self.extra_rounds = (0, self.extra_acked[0]), 0
        self.extra_acked = (max(self.extra_acked[0], extra), self.extra_acked[1])

    def _reset_full_bw(self, full_bw: int) -> None:
        self.full_bw, self.full_bw_count, self.full_bw_now = full_bw, 0, False

    def _check_full_bw(self) -> None:
        if self.full_bw_now or not self.round_start or self.limited:
            return
        if 4 * self.rate >= 5 * self.full_bw:
            self._reset_full_bw(self.rate)
            return
        self.full_bw_count += 1
        self.full_bw_now = self.full_bw_count >= 3
        self.full_bw_reached = self.full_bw_reached or self.full_bw_now

    def _check_startup_and_drain(self) -> None:
        lossy = self.loss_round_start and self.loss_events >= 6 if self.r.selective else self.loss_events > 0
        if self.state is State.STARTUP and not self.full_bw_reached and self.recovering and lossy and self._too_high():
            self.undo_state, self.full_bw_reached = State.STARTUP, True
            self.inflight_longterm = max(self._bdp(self.bw), self.inflight_latest)
        if self.loss_round_start:
            self.loss_events = 0
        if self.state is State.STARTUP and self.full_bw_reached:
            self.state, self.drain_rounds = State.DRAIN, 0
        if self.state is State.DRAIN and (self.r.in_flight <= self._inflight(self.bw) or self.drain_rounds > 3):
            self._start_down()

    # ---- ProbeBW

    def _start_down(self) -> None:
        self.loss_events = self.bw_latest = self.inflight_latest = 0
        self.rounds_since_probe_up = self.r.now & 1
        self.bw_probe_wait = 2 * SECOND + (self.r.now & (1 << 30) - 1)
        self.cycle_stamp = self.r.now
        self.stopping = True
        self.next_round_delivered = self.r.delivered
        self.state = State.DOWN

    def _start_refill(self) -> None:
        self.bw_shortterm = self.inflight_shortterm = MAX
        self.bw_probe_up_rounds = self.bw_probe_up_acked = 0
        if self.prev_probe is PrevProbe.PRECAUTIONARY:
            self.prev_probe = PrevProbe.NEITHER
        self.stopping = False
        self.next_round_delivered = self.r.delivered
        self.state = State.REFILL

    def _advance_cycle(self) -> None:
        if not self.full_bw_reached or self._adapt_long_term() or self.state not in PROBE_BW:
            return
        r = self.r
        if self.state in (State.DOWN, State.CRUISE) and self._is_time_to_probe():
            self._start_refill()
        elif self.state is State.DOWN:
            if r.in_flight <= min(self._with_headroom(), self._inflight(self.max_bw)):
                self.state = State.CRUISE
        elif self.state is State.REFILL and self.round_start:
            self.is_bw_probe_sample = True
            self._reset_full_bw(self.rate)
            self.state = State.UP
            self._raise_slope()
        elif self.state is State.UP:
            if self.prev_probe is PrevProbe.TOO_HIGH and r.in_flight + self.acked >= self.inflight_longterm:
                self.prev_probe = PrevProbe.PRECAUTIONARY
            elif r.cwnd_limited and self.cwnd >= self.inflight_longterm:
                self._reset_full_bw(self.rate)
                return
            elif not self.full_bw_now:
                return
            else:
                self.prev_probe = PrevProbe.NEITHER
            self._start_down()

    def _is_time_to_probe(self) -> bool:
        rounds = self.rounds_since_probe_up
        by_rounds = rounds >= 63 or rounds * self.r.segment_size >= self._target()
        return by_rounds or self._since(self.cycle_stamp) > self.bw_probe_wait

    def _with_headroom(self) -> int:
        bound, segment = self.inflight_longterm, self.r.segment_size
        return MAX if bound >= MAX else max(bound - max(segment, scaled(HEADROOM, bound)), 4 * segment)

    def _raise_slope(self) -> None:
        self.probe_up_acked_per_inc = max(self.cwnd >> self.bw_probe_up_rounds, self.r.segment_size)
        self.bw_probe_up_rounds = min(self.bw_probe_up_rounds + 1, 30)

    def _adapt_long_term(self) -> bool:
        if self.stopping and self.round_start:
            self.is_bw_probe_sample = self.stopping = False
            if self.state in PROBE_BW and not self.limited:
                self.max_bw_filter = (0, self.max_bw_filter[0])
            if self.state in PROBE_BW and self.prev_probe is PrevProbe.PRECAUTIONARY:
                self._start_refill()
                return True
        if not self._too_high() and self.inflight_longterm < MAX:
            self.inflight_longterm = max(self.inflight_longterm, self.r.tx_in_flight)
            if self.state is State.UP and self.r.cwnd_limited and self.cwnd >= self.inflight_longterm:
                acked = self.bw_probe_up_acked + self.acked
                delta = acked // self.probe_up_acked_per_inc
                self.bw_probe_up_acked = acked - delta * self.probe_up_acked_per_inc
                self.inflight_longterm = min(self.inflight_longterm + delta * self.r.segment_size, MAX - 1)
                if self.round_start:
                    self._raise_slope()
        return False

    # ---- ProbeRTT

    def _update_min_rtt(self) -> None:
        r = self.r
        expired = self._since(self.probe_rtt_min_stamp) > PROBE_RTT_INTERVAL
        self._expired = expired
        if r.rtt != NO_RTT and (r.rtt < self.probe_rtt_min_delay or expired):
            self.probe_rtt_min_delay, self.probe_rtt_min_stamp = r.rtt, r.now
        if self.probe_rtt_min_delay < self.min_rtt or self._since(self.min_rtt_stamp) > MIN_RTT_FILTER_LEN:
            self.min_rtt, self.min_rtt_stamp = self.probe_rtt_min_delay, self.probe_rtt_min_stamp

    def _check_probe_rtt(self) -> None:
        r = self.r
        if self.state is not State.PROBE_RTT and self._expired and not self.idle_restart:
            self._save_cwnd()
            self.state, self.probe_rtt_low_stamp = State.PROBE_RTT, None
            self.stopping = True
            self.next_round_delivered = self.limited_from = r.delivered
        if self.state is State.PROBE_RTT:
            self.limits, self.limited_until = True, wrap(r.delivered + r.in_flight, 32)
            if self.probe_rtt_low_stamp is None:
                if r.in_flight <= self._probe_rtt_cwnd():
                    self.probe_rtt_low_stamp, self.probe_rtt_round_done = r.now, False
                    self.next_round_delivered = r.delivered
            else:
                self.probe_rtt_round_done = self.probe_rtt_round_done or self.round_start
                if self.probe_rtt_round_done:
                    self._check_probe_rtt_done()
        if self.sampled > 0:
            self.idle_restart = False

    def _check_probe_rtt_done(self) -> None:
        if self.probe_rtt_low_stamp is None or self._since(self.probe_rtt_low_stamp) <= PROBE_RTT_DURATION:
            return
        self.probe_rtt_min_stamp = self.r.now
        self.cwnd = max(self.cwnd, self.prior_cwnd)
        self.bw_shortterm = self.inflight_shortterm = MAX
        if self.full_bw_reached:
            self._start_down()
            self.state = State.CRUISE
        else:
            self.state = State.STARTUP

    # ---- control

    def _bdp(self, bandwidth: int) -> int:
        if self.min_rtt == NO_RTT:
            return self.r.initial_window * self.r.segment_size
        product = bandwidth * min(self.min_rtt, (1 << 32) - 1) + (1 << BANDWIDTH_FRACTION - 1)
        return min(product >> BANDWIDTH_FRACTION, MAXIMUM_WINDOW)

    def _budget(self, volume: int) -> int:
        up = 2 if self.state is State.UP else 0
        return max(volume, 6 * self.r.segment_size) + up * self.r.segment_size

    def _inflight(self, bandwidth: int) -> int:
        return self._budget(self._bdp(bandwidth))

    def _target(self) -> int:
        return min(self._bdp(self.bw), self.cwnd)

    def _probe_rtt_cwnd(self) -> int:
        return max(self._bdp(self.bw) >> 1, 4 * self.r.segment_size)

    def _set_cwnd(self) -> None:
        r = self.r
        max_inflight = self._budget(scaled(CWND_GAIN[self.state], self._bdp(self.bw)) + max(self.extra_acked))
        if self.full_bw_reached:
            self.cwnd = min(self.cwnd + self.acked, max_inflight)
        elif self.cwnd < max_inflight or r.delivered < r.initial_window * r.segment_size:
            self.cwnd += self.acked
        smallest = 4 * r.segment_size
        self.cwnd = max(self.cwnd, smallest)
        if self.state is State.PROBE_RTT:
            self.cwnd = min(self.cwnd, self._probe_rtt_cwnd())
        bound = MAX
        if self.state in (State.PROBE_RTT, State.CRUISE):
            bound = self._with_headroom()
        elif self.state in PROBE_BW:
            bound = self.inflight_longterm
        self.cwnd = min(self.cwnd, max(min(bound, self.inflight_shortterm), smallest), MAXIMUM_WINDOW)


@dataclass(frozen=True)
class BbrModel:
    name: str = "bbrmodel"
    request_bits: int = Request.bits()

    def unit(self) -> Callable[[int], int]:
        return Unit().response


CALCULATOR = BbrModel()
