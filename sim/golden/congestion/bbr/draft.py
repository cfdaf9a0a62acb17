# SPDX-License-Identifier: BSD-2-Clause-Patent
"""BBR (draft-ietf-ccwg-bbr) in floats, in the draft's names and order. Bytes and seconds; sections are the draft's.

Where the draft leaves a choice: no offload, so send_quantum is its floor of two segments (5.6.3); a lost range is a
"packet" (5.5.10.2); T_reno counts BDPs in segments (5.3.3.8). Gains are those of the table in 5.6.1.

A departure, as in Linux: the precaution of 5.3.3.6 compares the flight before the ACK. After it less than cwnd is in
flight, which inflight_longterm bounds, so that the draft's condition never holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from math import inf

from sim.golden.congestion.bbr.delivery import Connection, RateSample


class State(Enum):
    STARTUP = 0
    DRAIN = 1
    DOWN = 2
    CRUISE = 3
    REFILL = 4
    UP = 5
    PROBE_RTT = 6


PROBE_BW = (State.DOWN, State.CRUISE, State.REFILL, State.UP)
PROBING = (State.STARTUP, State.REFILL, State.UP)  # IsProbingBW()
PACING_GAIN = dict(zip(State, (2.77, 0.5, 0.9, 1.0, 1.0, 1.25, 1.0), strict=True))
CWND_GAIN = dict(zip(State, (2.0, 2.0, 2.0, 2.0, 2.0, 2.25, 0.5), strict=True))
LOSS_THRESH, BETA, HEADROOM, PACING_MARGIN = 0.02, 0.7, 0.15, 0.01
MIN_RTT_FILTER_LEN, PROBE_RTT_INTERVAL, PROBE_RTT_DURATION = 10.0, 5.0, 0.2
EXTRA_ACKED_FILTER_LEN = 10  # rounds
STARTUP_FULL_LOSS_COUNT = 6


@dataclass
class WindowedMax:
    """The largest of the values that are at most `length` older than the newest."""

    values: list[tuple[int, float]] = field(default_factory=list)

    def update(self, value: float, time: int, length: int) -> float:
        kept = [(t, v) for t, v in self.values if time - t <= length and v > value]
        self.values = [*kept, (time, value)]
        return self.values[0][1]


@dataclass
class Bbr:
    """`random` draws from [0, 1)."""

    c: Connection
    random: Callable[[], float]
    now: float = 0.0
    state: State = State.STARTUP
    rs: RateSample = field(default_factory=RateSample)
    # 5.5.1: rounds
    round_count: int = 0
    round_start: bool = False
    next_round_delivered: float = 0.0
    idle_restart: bool = False
    # The path: rates, then volumes
    max_bw: float = 0.0
    bw: float = 0.0
    bw_shortterm: float = inf
    cycle_count: int = 0
    max_bw_filter: WindowedMax = field(default_factory=WindowedMax)
    inflight_longterm: float = inf
    inflight_shortterm: float = inf
    # Aggregation
    extra_acked: float = 0.0
    extra_acked_interval_start: float = 0.0
    extra_acked_delivered: float = 0.0
    extra_acked_filter: WindowedMax = field(default_factory=WindowedMax)
    # Startup and drain
    full_bw_reached: bool = False
    full_bw_now: bool = False
    full_bw: float = 0.0
    full_bw_count: int = 0
    drain_start_round: int = 0
    loss_events_in_round: int = 0
    # ProbeBW
    stopping: bool = False  # ACKS_PROBE_STOPPING: no other value of ack_phase has a consequence
    is_bw_probe_sample: bool = False
    bw_probe_up_acked: float = 0.0
    probe_up_acked_per_inc: float = inf
    bw_probe_up_rounds: int = 0
    rounds_since_probe_up: int = 0
    bw_probe_wait: float = 0.0
    cycle_stamp: float = 0.0
    prev_probe_too_high: bool = False
    prev_probe_precautionary: bool = False
    # Congestion
    bw_latest: float = 0.0
    inflight_latest: float = 0.0
    is_loss_in_round: bool = False
    loss_round_start: bool = False
    loss_round_delivered: float = 0.0
    prior_cwnd: float = 0.0
    undo_state: State | None = None
    undo_bw_shortterm: float = 0.0
    undo_inflight_shortterm: float = 0.0
    undo_inflight_longterm: float = 0.0
    # ProbeRTT
    min_rtt: float = inf
    min_rtt_stamp: float = 0.0
    probe_rtt_min_delay: float = inf
    probe_rtt_min_stamp: float = 0.0
    probe_rtt_expired: bool = False
    probe_rtt_done_stamp: float = 0.0
    probe_rtt_round_done: bool = False

    def __post_init__(self) -> None:
        """OnInit(), 5.2.1, and InitPacingRate(), 5.6.2."""
        self.min_rtt = self.c.srtt or inf
        self.min_rtt_stamp = self.probe_rtt_min_stamp = self.extra_acked_interval_start = self.now
        self.c.pacing_rate = PACING_GAIN[State.STARTUP] * self.c.initial_cwnd / (self.c.srtt or 0.001)

    # ---- events

    def on_transmit(self, now: float) -> None:
        """HandleRestartFromIdle(), 5.4.1, before a packet is sent."""
        self.now = now
        if self.c.inflight == 0 and self.c.app_limited:
            self.idle_restart = True
            self.extra_acked_interval_start = now
            if self.state in PROBE_BW:
                self._set_pacing_rate_with_gain(1)
            elif self.state is State.PROBE_RTT:
                self._check_probe_rtt_done()

    def update_on_ack(self, rs: RateSample, now: float) -> None:
        """5.2.3."""
        self.rs, self.now = rs, now
        self._update_latest_delivery_signals()
        self._update_congestion_signals()
        self._update_ack_aggregation()
        self._check_full_bw_reached()
        self._check_startup_done()
        self._check_drain_done()
        self._update_probe_bw_cycle_phase()
        self._update_min_rtt()
        self._check_probe_rtt()
        if self.loss_round_start:  # AdvanceLatestDeliverySignals()
            self.bw_latest, self.inflight_latest = rs.delivery_rate, rs.delivered
        self.bw = min(self.max_bw, self.bw_shortterm)  # BoundBWForModel()
        self._set_pacing_rate_with_gain(PACING_GAIN[self.state])
        self._set_cwnd()

    def handle_lost_packet(
        self, size: float, tx_in_flight: float, lost: float, is_app_limited: bool, now: float
    ) -> None:
        """5.5.10.2: a range was marked lost, and `lost` with it since it was sent."""
        self.now = now
        if not self.is_loss_in_round:
            self.loss_round_delivered = self.c.delivered
            self._save_state_upon_loss()
        self.is_loss_in_round = True
        self.loss_events_in_round += 1
        if not self.is_bw_probe_sample:
            return
        self.rs = RateSample(tx_in_flight=tx_in_flight, lost=lost, is_app_limited=is_app_limited)
        if self._is_inflight_too_high():
            inflight_prev, lost_prev = tx_in_flight - size, lost - size  # InflightAtLoss()
            lost_prefix = (LOSS_THRESH * inflight_prev - lost_prev) / (1 - LOSS_THRESH)
            self.rs.tx_in_flight = inflight_prev + lost_prefix
            self._handle_inflight_too_high()

    def on_enter_rto(self) -> None:
        """5.6.4.4."""
        self._save_state_upon_loss()
        self.c.in_loss_recovery = True
        self.c.cwnd = self.c.inflight + self.c.smss

    def on_enter_fast_recovery(self) -> None:
        self._save_state_upon_loss()
        self.c.in_loss_recovery = True

    def on_exit_recovery(self) -> None:
        self.c.in_loss_recovery = False
        self._restore_cwnd()

    def handle_spurious_loss_detection(self) -> None:
        """5.5.11.2."""
        self._restore_cwnd()
        self.is_loss_in_round = False
        self._reset_full_bw()
        self.bw_shortterm = max(self.bw_shortterm, self.undo_bw_shortterm)
        self.inflight_shortterm = max(self.inflight_shortterm, self.undo_inflight_shortterm)
        self.inflight_longterm = max(self.inflight_longterm, self.undo_inflight_longterm)
        if self.undo_state is State.STARTUP and self.state is not State.STARTUP:
            self.full_bw_reached = False
            if self.state is not State.PROBE_RTT:
                self.state = State.STARTUP
        elif self.undo_state is State.UP and self.state not in (State.UP, State.PROBE_RTT):
            self._start_refill()
        self.undo_state = None

    # ---- 5.3.1, 5.3.2: Startup and Drain

    def _reset_full_bw(self, full_bw: float = 0.0) -> None:
        self.full_bw, self.full_bw_count, self.full_bw_now = full_bw, 0, False

    def _check_full_bw_reached(self) -> None:
        if self.full_bw_now or not self.round_start or self.rs.is_app_limited:
            return
        if self.rs.delivery_rate >= self.full_bw * 1.25:
            self._reset_full_bw(self.rs.delivery_rate)
            return
        self.full_bw_count += 1
        self.full_bw_now = self.full_bw_count >= 3
        self.full_bw_reached = self.full_bw_reached or self.full_bw_now

    def _check_startup_done(self) -> None:
        self._check_startup_high_loss()
        if self.state is State.STARTUP and self.full_bw_reached:
            self.state, self.drain_start_round = State.DRAIN, self.round_count

    def _check_startup_high_loss(self) -> None:
        """5.3.1.3. A round of losses has ended, all of it in recovery."""
        lossy = self.loss_round_start and self.loss_events_in_round >= STARTUP_FULL_LOSS_COUNT
        if not self.c.has_selective_acks:
            lossy = self.loss_events_in_round > 0
        searches = self.state is State.STARTUP and not self.full_bw_reached
        if searches and self.c.in_loss_recovery and lossy and self._is_inflight_too_high():
            self.undo_state = State.STARTUP
            self.full_bw_reached = True
            self.inflight_longterm = max(self._bdp_multiple(self.bw, 1), self.inflight_latest)
        if self.loss_round_start:
            self.loss_events_in_round = 0

    def _check_drain_done(self) -> None:
        late = self.round_count > self.drain_start_round + 3
        if self.state is State.DRAIN and (self.c.inflight <= self._inflight(self.bw, 1) or late):
            self._start_down()

    # ---- 5.3.3: ProbeBW

    def _start_down(self) -> None:
        self.is_loss_in_round, self.bw_latest, self.inflight_latest = False, 0.0, 0.0  # ResetCongestionSignals()
        self.probe_up_acked_per_inc = inf
        self.rounds_since_probe_up = int(2 * self.random())  # PickProbeWait()
        self.bw_probe_wait = 2 + self.random()
        self.cycle_stamp = self.now
        self.stopping = True
        self._start_round()
        self.state = State.DOWN

    def _start_refill(self) -> None:
        self.bw_shortterm = self.inflight_shortterm = inf
        self.bw_probe_up_rounds, self.bw_probe_up_acked = 0, 0.0
        self.prev_probe_precautionary = False
        self.stopping = False
        self._start_round()
        self.state = State.REFILL

    def _start_up(self) -> None:
        self._start_round()
        self._reset_full_bw(self.rs.delivery_rate)
        self.state = State.UP
        self._raise_inflight_longterm_slope()

    def _update_probe_bw_cycle_phase(self) -> None:
        if not self.full_bw_reached or self._adapt_long_term_model() or self.state not in PROBE_BW:
            return
        if self.state in (State.DOWN, State.CRUISE) and self._is_time_to_probe_bw():
            self._start_refill()
        elif self.state is State.DOWN and self._is_time_to_cruise():
            self.state = State.CRUISE
        elif self.state is State.REFILL and self.round_start:
            self.is_bw_probe_sample = True
            self._start_up()
        elif self.state is State.UP and self._is_time_to_go_down():
            self.prev_probe_too_high = False
            self._start_down()

    def _is_time_to_probe_bw(self) -> bool:
        reno_rounds = min(self._target_inflight() / self.c.smss, 63)
        return self.now > self.cycle_stamp + self.bw_probe_wait or self.rounds_since_probe_up >= reno_rounds

    def _is_time_to_cruise(self) -> bool:
        return self.c.inflight <= min(self._inflight_with_headroom(), self._inflight(self.max_bw, 1))

    def _is_time_to_go_down(self) -> bool:
        if self.prev_probe_too_high and self.c.inflight + self.rs.newly_acked >= self.inflight_longterm:
            self.prev_probe_precautionary = True
            return True
        if self.c.is_cwnd_limited and self.c.cwnd >= self.inflight_longterm:
            self._reset_full_bw(self.rs.delivery_rate)
            return False
        return self.full_bw_now

    def _inflight_with_headroom(self) -> float:
        if self.inflight_longterm == inf:
            return inf
        headroom = max(self.c.smss, HEADROOM * self.inflight_longterm)
        return max(self.inflight_longterm - headroom, 4 * self.c.smss)

    def _raise_inflight_longterm_slope(self) -> None:
        growth_this_round = 1 << self.bw_probe_up_rounds
        self.bw_probe_up_rounds = min(self.bw_probe_up_rounds + 1, 30)
        self.probe_up_acked_per_inc = max(self.c.cwnd / growth_this_round, self.c.smss)

    def _probe_inflight_longterm_upward(self) -> None:
        if not self.c.is_cwnd_limited or self.c.cwnd < self.inflight_longterm:
            return
        self.bw_probe_up_acked += self.rs.newly_acked
        delta = self.bw_probe_up_acked // self.probe_up_acked_per_inc
        self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc
        self.inflight_longterm += delta * self.c.smss
        if self.round_start:
            self._raise_inflight_longterm_slope()

    def _adapt_long_term_model(self) -> bool:
        if self.stopping and self.round_start:
            self.is_bw_probe_sample = self.stopping = False
            if self.state in PROBE_BW and not self.rs.is_app_limited:
                self.cycle_count += 1  # AdvanceMaxBwFilter()
            if self.state in PROBE_BW and self.prev_probe_precautionary and not self.prev_probe_too_high:
                self._start_refill()
                return True
        if not self._is_inflight_too_high() and self.inflight_longterm < inf:
            self.inflight_longterm = max(self.inflight_longterm, self.rs.tx_in_flight)
            if self.state is State.UP:
                self._probe_inflight_longterm_upward()
        return False

    # ---- 5.3.4: ProbeRTT

    def _update_min_rtt(self) -> None:
        self.probe_rtt_expired = self.now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL
        rtt = self.rs.rtt
        if rtt is not None and (rtt < self.probe_rtt_min_delay or self.probe_rtt_expired):
            self.probe_rtt_min_delay, self.probe_rtt_min_stamp = rtt, self.now
        min_rtt_expired = self.now > self.min_rtt_stamp + MIN_RTT_FILTER_LEN
        if self.probe_rtt_min_delay < self.min_rtt or min_rtt_expired:
            self.min_rtt, self.min_rtt_stamp = self.probe_rtt_min_delay, self.probe_rtt_min_stamp

    def _check_probe_rtt(self) -> None:
        if self.state is not State.PROBE_RTT and self.probe_rtt_expired and not self.idle_restart:
            self._save_cwnd()
            self.state = State.PROBE_RTT
            self.probe_rtt_done_stamp = 0
            self.stopping = True
            self._start_round()
        if self.state is State.PROBE_RTT:
            self._handle_probe_rtt()
        if self.rs.delivered > 0:
            self.idle_restart = False

    def _handle_probe_rtt(self) -> None:
        self.c.mark_app_limited()
        if self.probe_rtt_done_stamp == 0:
            if self.c.inflight <= self._probe_rtt_cwnd():
                self.probe_rtt_done_stamp = self.now + PROBE_RTT_DURATION
                self.probe_rtt_round_done = False
                self._start_round()
        else:
            self.probe_rtt_round_done = self.probe_rtt_round_done or self.round_start
            if self.probe_rtt_round_done:
                self._check_probe_rtt_done()

    def _check_probe_rtt_done(self) -> None:
        if self.probe_rtt_done_stamp != 0 and self.now > self.probe_rtt_done_stamp:
            self.probe_rtt_min_stamp = self.now
            self._restore_cwnd()
            self.bw_shortterm = self.inflight_shortterm = inf  # ExitProbeRTT()
            if self.full_bw_reached:
                self._start_down()
                self.state = State.CRUISE
            else:
                self.state = State.STARTUP

    # ---- 5.5: the model

    def _start_round(self) -> None:
        self.next_round_delivered = self.c.delivered

    def _update_latest_delivery_signals(self) -> None:
        self.loss_round_start = False
        self.bw_latest = max(self.bw_latest, self.rs.delivery_rate)
        self.inflight_latest = max(self.inflight_latest, self.rs.delivered)
        if self.rs.has_data and self.rs.prior_delivered >= self.loss_round_delivered:
            self.loss_round_delivered = self.c.delivered
            self.loss_round_start = True

    def _update_congestion_signals(self) -> None:
        self._update_max_bw()
        if not self.loss_round_start:
            return
        if self.state not in PROBING and self.is_loss_in_round:
            if self.bw_shortterm == inf:  # InitLowerBounds()
                self.bw_shortterm = self.max_bw
            if self.inflight_shortterm == inf:
                self.inflight_shortterm = self.c.cwnd
            self.bw_shortterm = max(self.bw_latest, BETA * self.bw_shortterm)
            self.inflight_shortterm = max(self.inflight_latest, BETA * self.inflight_shortterm)
        self.is_loss_in_round = False

    def _update_max_bw(self) -> None:
        self.round_start = self.rs.has_data and self.rs.prior_delivered >= self.next_round_delivered
        if self.round_start:
            self._start_round()
            self.round_count += 1
            self.rounds_since_probe_up += 1
        rate = self.rs.delivery_rate
        if rate > 0 and (rate >= self.max_bw or not self.rs.is_app_limited):
            self.max_bw = self.max_bw_filter.update(rate, self.cycle_count, 1)

    def _update_ack_aggregation(self) -> None:
        expected = self.bw * (self.now - self.extra_acked_interval_start)
        if self.extra_acked_delivered <= expected:
            self.extra_acked_delivered, self.extra_acked_interval_start = 0.0, self.now
            expected = 0.0
        self.extra_acked_delivered += self.rs.newly_acked
        extra = min(self.extra_acked_delivered - expected, self.c.cwnd)
        length = EXTRA_ACKED_FILTER_LEN if self.full_bw_reached else 1
        self.extra_acked = self.extra_acked_filter.update(extra, self.round_count, length)

    def _is_inflight_too_high(self) -> bool:
        return self.rs.lost > self.rs.tx_in_flight * LOSS_THRESH or (self.rs.lost > 0 and not self.c.has_selective_acks)

    def _handle_inflight_too_high(self) -> None:
        self.prev_probe_too_high = True
        self.is_bw_probe_sample = False
        if not self.rs.is_app_limited:
            self.inflight_longterm = max(self.rs.tx_in_flight, self._target_inflight() * BETA)
        if self.state is State.UP:
            self.undo_state = State.UP
            self._start_down()

    def _save_state_upon_loss(self) -> None:
        self._save_cwnd()
        self.undo_state = None
        self.undo_bw_shortterm = self.bw_shortterm
        self.undo_inflight_shortterm = self.inflight_shortterm
        self.undo_inflight_longterm = self.inflight_longterm

    # ---- 5.6: control

    def _set_pacing_rate_with_gain(self, gain: float) -> None:
        rate = gain * self.bw * (1 - PACING_MARGIN)
        if self.full_bw_reached or rate > self.c.pacing_rate:
            self.c.pacing_rate = rate

    def _bdp_multiple(self, bw: float, gain: float) -> float:
        if self.min_rtt == inf:
            return self.c.initial_cwnd
        return gain * bw * self.min_rtt

    def _quantization_budget(self, inflight_cap: float) -> float:
        send_quantum = 2 * self.c.smss
        up = 2 * self.c.smss if self.state is State.UP else 0
        return max(inflight_cap, 3 * send_quantum, 4 * self.c.smss) + up

    def _inflight(self, bw: float, gain: float) -> float:
        return self._quantization_budget(self._bdp_multiple(bw, gain))

    def _target_inflight(self) -> float:
        return min(self._bdp_multiple(self.bw, 1), self.c.cwnd)

    def _save_cwnd(self) -> None:
        recovers = self.c.in_loss_recovery or self.state is State.PROBE_RTT
        self.prior_cwnd = max(self.prior_cwnd, self.c.cwnd) if recovers else self.c.cwnd

    def _restore_cwnd(self) -> None:
        self.c.cwnd = max(self.c.cwnd, self.prior_cwnd)

    def _probe_rtt_cwnd(self) -> float:
        return max(self._bdp_multiple(self.bw, CWND_GAIN[State.PROBE_RTT]), 4 * self.c.smss)

    def _set_cwnd(self) -> None:
        inflight_cap = self._bdp_multiple(self.bw, CWND_GAIN[self.state]) + self.extra_acked
        max_inflight = self._quantization_budget(inflight_cap)
        grown = self.c.cwnd + self.rs.newly_acked
        if self.full_bw_reached:
            self.c.cwnd = min(grown, max_inflight)
        elif self.c.cwnd < max_inflight or self.c.delivered < self.c.initial_cwnd:
            self.c.cwnd = grown
        self.c.cwnd = max(self.c.cwnd, 4 * self.c.smss)
        if self.state is State.PROBE_RTT:
            self.c.cwnd = min(self.c.cwnd, self._probe_rtt_cwnd())
        cap = inf  # BoundCwndForModel()
        if self.state in PROBE_BW and self.state is not State.CRUISE:
            cap = self.inflight_longterm
        elif self.state in (State.PROBE_RTT, State.CRUISE):
            cap = self._inflight_with_headroom()
        self.c.cwnd = min(self.c.cwnd, max(min(cap, self.inflight_shortterm), 4 * self.c.smss))
