# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Recovery of a connection without SACK blocks: the timers of RFC 6298 and RFC 9293 3.8.6.1, R2 and the user timeout
(3.8.3), NewReno or Reno (RFC 6582, 5681), a mark's reduction (RFC 3168), the restart after idleness (RFC 5681 4.1), as
docs/reference/recovery.md has them. Times are ns, numbers of 32 bits wrap.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sim.golden.engine.protocol.connection import MASK, TICK, UNIT, Connection, Effects, up
from sim.golden.engine.protocol.sequence import since
from sim.golden.engine.round_trip import RoundTrips
from sim.golden.engine.rto import SECOND, RtoEstimator

LIMIT = 15  # expiries in a row (R2), and doublings
AFTER_SYN_LOSS = 3 * SECOND  # RFC 6298 5.7
CLOSED = -(-100 * SECOND // UNIT)  # units of 2^30 ns that a closed connection has
OLDEST_ECHO = 2**15  # ticks; an older echo is no round trip


@dataclass(frozen=True)
class Before:
    """The connection before the event, as far as recovery looks at it."""

    outstanding: int
    una: int
    max: int

    @classmethod
    def of(cls, tcb: Connection) -> Before:
        return cls(tcb.outstanding, tcb.una, tcb.max)


@dataclass(frozen=True)
class Sent:
    """A segment that has left: its number, its payload and all numbers that it takes."""

    seq: int
    length: int
    span: int


@dataclass
class Recovery:
    reno: bool = False
    keeps_window: bool = False  # nssr
    user_timeout: int = 0  # units; zero: none
    user_deadline: int = 0  # unit

    trips: RoundTrips = field(default_factory=RoundTrips)
    syn_lost: bool = False
    back_off: int = 0
    expired_at: int = 0  # tick of TSval

    armed: bool = False
    deadline: int = 0
    count: int = 0  # expiries in a row
    persisting: bool = False
    silent: int = 0  # expiries since a segment of the peer

    duplicates: int = 0
    recovering: bool = False
    partial: bool = False
    recover: int = 0
    marked: int = 0  # SND.MAX at the last reduction for a mark
    high_rxt: int = 0  # bytes from SND.UNA
    last_sent: int = 0  # tick

    sample: int | None = None  # round trip of the last event, ns
    gives_up: bool = False

    def step(
        self,
        kind: str,
        tcb: Connection,
        before: Before,
        effects: Effects,
        now: int,
        *,
        sent: Sent | None = None,
        echo: int | None = None,
        departed: int | None = None,
    ) -> str:
        """An event after protocol has taken it; the kind of event that congestion gets. `echo`: TSecr of a segment,
        `departed`: the end of a segment whose departure stamp is now."""
        if effects.opened:
            return self._open(tcb, now)
        live = tcb.state != "closed"
        advanced = effects.acked > 0
        shut = tcb.window == 0 and tcb.state != "synSent"
        flight = tcb.outstanding
        resent = sent is not None and since(sent.seq, before.max) < 0
        if effects.connected and self.count:
            self.syn_lost = True
        timeout = self._timeout()

        # the timer's expiry
        expired = kind == "timer" and live and self.armed and self.deadline <= now
        overdue = (
            kind == "timer" and live and self.armed and self.user_timeout > 0 and now // UNIT >= self.user_deadline
        )
        persists = shut or not flight
        resumes = self.persisting and not persists
        consecutive = 0 if resumes else self.count
        timed_out, probes = expired and not persists, expired and persists
        self.gives_up = overdue or timed_out and consecutive == LIMIT or probes and self.silent == LIMIT
        self.count = 0 if advanced else min(consecutive + expired, LIMIT)
        self.silent = 0 if kind == "segment" else min(self.silent + expired, LIMIT)
        self.persisting = persists

        # losses, by what was kept before
        una = tcb.una
        was_recovering, first_partial = self.recovering, not self.partial
        beyond, below = since(una, self.recover) > 0, since(una, self.recover) < 0
        partial = advanced and self.recovering and below and not self._ends_at_once(tcb)
        recovered = advanced and self.recovering and not partial
        reduces = live and effects.echoed and not self.recovering and beyond and since(una, self.marked) > 0
        reduces = reduces and before.outstanding > 0
        duplicate = live and not shut and effects.duplicated and not tcb.selective
        lost = duplicate and not self.recovering and beyond and self.duplicates == 2 and not effects.again
        inflates = duplicate and self.recovering

        taken = self._measure(kind, tcb, effects, now, advanced, echo)
        self._doubles(effects, timed_out, taken, tcb, now)
        restarts = self._idle(live, tcb, flight, timeout, now)

        # sending again
        high = max(self.high_rxt - effects.acked, 0)
        further = resent and self.recovering and high < since((sent.seq + sent.span) & MASK, una) if sent else False
        first_again = further and not high and first_partial
        rewinds = timed_out or effects.again
        self.high_rxt = since((sent.seq + sent.span) & MASK, una) if further and sent else high
        if rewinds:
            self.high_rxt = 0
        self._keep_losses(tcb, advanced, beyond, lost, partial, recovered, reduces, duplicate, rewinds, timed_out)

        # the timer
        needed = live and (flight > 0 or self._blocked(tcb, shut))
        arms = needed and not self.armed
        renews = advanced and not (partial and not first_partial and not tcb.selective)
        if expired or resumes or first_again or arms or renews:
            doublings = self.count if persists else self.back_off
            self.deadline = up(now + min(timeout << doublings, self.rto.ceiling))
        self.armed = needed
        closes = kind == "close" and live
        if closes and (not self.user_timeout or self.user_timeout > CLOSED):
            self.user_timeout = CLOSED
        changes = kind == "setTimes" and live
        if changes:
            self.user_timeout = tcb.parameters.user_timeout
        if advanced or arms or closes or changes:
            self.user_deadline = now // UNIT + self.user_timeout + 1

        self._time(tcb, sent, resent, timed_out or lost or partial, departed, now)
        name = "restart" if restarts else kind if kind == "measured" else "none"
        if sent and not resent and sent.length:
            name = "sent"
        if advanced and not effects.echoed:
            name = "acknowledged"
        if inflates:
            name = "duplicate"
        if partial:
            name = "none" if tcb.selective else "partial"
        if recovered or effects.again and was_recovering:
            name = "recovered"
        if reduces:
            name = "loss"
        if timed_out:
            name = "timeoutAgain" if consecutive else "timeout"
        if effects.connected:
            name = "established"
        if lost:
            name = "loss"
        if (sent and sent.span) or name == "restart":
            self.last_sent = tcb.tsval(now)
        return name

    def _open(self, tcb: Connection, now: int) -> str:
        kept = Recovery(
            self.reno,
            self.keeps_window,
            tcb.parameters.user_timeout,
            trips=RoundTrips(self.trips.single, records=self.trips.records),
        )
        self.__dict__.update(kept.__dict__)
        self.recover = self.marked = tcb.una
        self.last_sent = tcb.tsval(now)
        self.user_deadline = now // UNIT + self.user_timeout + 1
        self.persisting = True
        return "none"

    # ---- losses

    def _ends_at_once(self, tcb: Connection) -> bool:
        return self.reno and not tcb.selective

    def _keep_losses(
        self,
        tcb: Connection,
        advanced: bool,
        beyond: bool,
        lost: bool,
        partial: bool,
        recovered: bool,
        reduces: bool,
        duplicate: bool,
        rewinds: bool,
        timed_out: bool,
    ) -> None:
        self.duplicates = 0 if advanced or rewinds else min(self.duplicates + duplicate, 3)
        self.recovering = not rewinds and (self.recovering and not recovered or lost)
        self.partial = not lost and (self.partial or partial)
        if advanced and beyond:
            self.recover = (tcb.una - 1) & MASK
        if lost or timed_out or rewinds and tcb.state != "synReceived":
            self.recover = tcb.max
        if reduces:
            self.marked = tcb.max
        elif advanced and since(tcb.una, self.marked) > 0:
            self.marked = (tcb.una - 1) & MASK

    def _blocked(self, tcb: Connection, shut: bool) -> bool:
        """RFC 9293 3.8.6.1: something waits that the window does not take, and nothing is out that could open it."""
        unsent = since(tcb.written, tcb.una)
        waits = not tcb.outstanding and unsent >= 0 and (unsent > 0 or tcb.finishing)
        return waits and (shut or tcb.window < tcb.mss and tcb.window < unsent)

    def _idle(self, live: bool, tcb: Connection, flight: int, timeout: int, now: int) -> bool:
        """Ticks that have begun do not count."""
        waits = live and not self.keeps_window and not flight and since(tcb.written, tcb.una) > 0
        idle = (tcb.tsval(now) - self.last_sent) & MASK
        return waits and idle >= 2 and idle - 2 >= timeout // TICK

    # ---- the round trip

    def _timeout(self) -> int:
        """RTO by the samples before the event, ns; neither doubled nor bounded above."""
        if not self.rto.sampled:
            return AFTER_SYN_LOSS if self.syn_lost else self.rto.initial
        return max(self.rto.srtt + max(self.rto.granularity, self.rto.var4), self.rto.floor)

    def _measure(
        self, kind: str, tcb: Connection, effects: Effects, now: int, advanced: bool, echo: int | None
    ) -> bool:
        """After an expiry an echo of what left since is a sample, too (RFC 7323 4.1)."""
        self.sample = None
        if advanced and (taken := self.trips.advanced(tcb.una, tcb.max, now)):
            self.sample = taken.rtt
        elif advanced and echo is not None and tcb.timestamped and self.back_off and not effects.connected:
            age = (tcb.tsval(now) - echo) & MASK
            later = (echo - self.expired_at + 2**15) % 2**16 - 2**15 >= 0
            if age < OLDEST_ECHO and later:
                self.sample = (age + 1) * TICK
                self.trips.echoed(self.sample, tcb.max)
        return self.sample is not None

    def _doubles(self, effects: Effects, timed_out: bool, taken: bool, tcb: Connection, now: int) -> None:
        if effects.connected or taken:
            self.back_off = 0
        elif timed_out:
            self.back_off = min(self.back_off + 1, LIMIT)
        if timed_out:
            self.expired_at = tcb.tsval(now)

    def _time(
        self, tcb: Connection, sent: Sent | None, resent: bool, breaks: bool, departed: int | None, now: int
    ) -> None:
        if sent is not None and sent.span:
            full = sent.length >= tcb.mss
            self.trips.sent((sent.seq + sent.span) & MASK, full=full, una=tcb.una, highest=tcb.max, resent=resent)
        elif departed is not None:
            self.trips.departed(departed, now)
        if breaks:
            self.trips.breaks(tcb.max)

    @property
    def rto(self) -> RtoEstimator:
        return self.trips.estimator

    def earliest(self) -> int | None:
        """The earlier of the timer and the user timeout, ns."""
        if not self.armed:
            return None
        return min(self.deadline, self.user_deadline * UNIT) if self.user_timeout else self.deadline
