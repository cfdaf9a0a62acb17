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


@dataclass(frozen=True)
class Expiry:
    """The timer's part in an event."""

    expired: bool
    persists: bool  # nothing is outstanding, or the peer's window is shut: the expiry is a probe's
    resumes: bool  # the first event after persisting
    again: bool  # the last expiry was a timeout, too

    @property
    def timed_out(self) -> bool:
        return self.expired and not self.persists


@dataclass(frozen=True)
class Losses:
    """The losses that an event shows, by what was kept before it."""

    beyond: bool  # SND.UNA is past `recover`
    duplicate: bool
    inflates: bool  # by a duplicate
    lost: bool  # by the third duplicate
    partial: bool
    recovered: bool
    reduces: bool  # for a mark


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
        resent = sent is not None and since(sent.seq, before.max) < 0
        if effects.connected and self.count:
            self.syn_lost = True
        timeout = self._timeout()
        first_partial = not self.partial

        expiry = self._expire(kind, tcb, live, shut, advanced, now)
        losses = self._losses(tcb, before, effects, live, shut)
        taken = self._measure(kind, tcb, effects, now, advanced, echo)
        self._doubles(effects, expiry.timed_out, taken, tcb, now)
        restarts = self._idle(live, tcb, timeout, now)
        first_again = self._resend(tcb, effects, sent if resent else None) and first_partial
        self._keep_losses(tcb, losses, advanced, effects.again, expiry.timed_out)

        needed = live and (tcb.outstanding > 0 or self._blocked(tcb, shut))
        arms = needed and not self.armed
        renews = advanced and not (losses.partial and not first_partial and not tcb.selective)
        if expiry.expired or expiry.resumes or first_again or arms or renews:
            doublings = self.count if expiry.persists else self.back_off
            self.deadline = up(now + min(timeout << doublings, self.rto.ceiling))
        self.armed = needed
        self._limit(kind, tcb, live, advanced or arms, now)

        self._time(tcb, sent, resent, expiry.timed_out or losses.lost or losses.partial, departed, now)
        leaves = sent is not None and not resent and sent.length > 0
        otherwise = "sent" if leaves else "restart" if restarts else kind if kind == "measured" else "none"
        name = _name(tcb, effects, expiry, losses, otherwise)
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

    # ---- the timer

    def _expire(self, kind: str, tcb: Connection, live: bool, shut: bool, advanced: bool, now: int) -> Expiry:
        fires = kind == "timer" and live and self.armed
        expired = fires and self.deadline <= now
        overdue = fires and self.user_timeout > 0 and now // UNIT >= self.user_deadline
        persists = shut or not tcb.outstanding
        resumes = self.persisting and not persists
        consecutive = 0 if resumes else self.count
        expiry = Expiry(expired, persists, resumes, consecutive > 0)
        probed_in_vain = expired and persists and self.silent == LIMIT
        self.gives_up = overdue or expiry.timed_out and consecutive == LIMIT or probed_in_vain
        self.count = 0 if advanced else min(consecutive + expired, LIMIT)
        self.silent = 0 if kind == "segment" else min(self.silent + expired, LIMIT)
        self.persisting = persists
        return expiry

    def _limit(self, kind: str, tcb: Connection, live: bool, progress: bool, now: int) -> None:
        """The user timeout counts from the last progress."""
        closes, changes = kind == "close" and live, kind == "setTimes" and live
        if closes and (not self.user_timeout or self.user_timeout > CLOSED):
            self.user_timeout = CLOSED
        if changes:
            self.user_timeout = tcb.parameters.user_timeout
        if progress or closes or changes:
            self.user_deadline = now // UNIT + self.user_timeout + 1

    # ---- losses

    def _losses(self, tcb: Connection, before: Before, effects: Effects, live: bool, shut: bool) -> Losses:
        advanced, past = effects.acked > 0, since(tcb.una, self.recover)
        beyond = past > 0
        partial = advanced and self.recovering and past < 0 and not (self.reno and not tcb.selective)
        marked = live and effects.echoed and before.outstanding > 0
        duplicate = live and not shut and effects.duplicated and not tcb.selective
        third = duplicate and self.duplicates == 2
        return Losses(
            beyond=beyond,
            duplicate=duplicate,
            inflates=duplicate and self.recovering,
            lost=third and not self.recovering and beyond and not effects.again,
            partial=partial,
            recovered=self.recovering and (advanced and not partial or effects.again),
            reduces=marked and not self.recovering and beyond and since(tcb.una, self.marked) > 0,
        )

    def _resend(self, tcb: Connection, effects: Effects, sent: Sent | None) -> bool:
        """`sent` has left again. Whether it is the first of its recovery."""
        high = max(self.high_rxt - effects.acked, 0)
        end = since((sent.seq + sent.span) & MASK, tcb.una) if sent else 0
        further = self.recovering and high < end
        self.high_rxt = end if further else high
        return further and not high

    def _keep_losses(self, tcb: Connection, losses: Losses, advanced: bool, again: bool, timed_out: bool) -> None:
        rewinds = timed_out or again
        if rewinds:
            self.high_rxt = 0
        self.duplicates = 0 if advanced or rewinds else min(self.duplicates + losses.duplicate, 3)
        self.recovering = not rewinds and (self.recovering and not losses.recovered or losses.lost)
        self.partial = not losses.lost and (self.partial or losses.partial)
        if advanced and losses.beyond:
            self.recover = (tcb.una - 1) & MASK
        if losses.lost or timed_out or rewinds and tcb.state != "synReceived":
            self.recover = tcb.max
        if losses.reduces:
            self.marked = tcb.max
        elif advanced and since(tcb.una, self.marked) > 0:
            self.marked = (tcb.una - 1) & MASK

    def _blocked(self, tcb: Connection, shut: bool) -> bool:
        """RFC 9293 3.8.6.1: something waits that the window does not take, and nothing is out that could open it."""
        unsent = since(tcb.written, tcb.una)
        waits = not tcb.outstanding and unsent >= 0 and (unsent > 0 or tcb.finishing)
        return waits and (shut or tcb.window < tcb.mss and tcb.window < unsent)

    def _idle(self, live: bool, tcb: Connection, timeout: int, now: int) -> bool:
        """Ticks that have begun do not count."""
        waits = live and not self.keeps_window and not tcb.outstanding and since(tcb.written, tcb.una) > 0
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


def _name(tcb: Connection, effects: Effects, expiry: Expiry, losses: Losses, otherwise: str) -> str:
    """The event that congestion gets."""
    if losses.lost:
        return "loss"
    if effects.connected:
        return "established"
    if expiry.timed_out:
        return "timeoutAgain" if expiry.again else "timeout"
    if losses.reduces:
        return "loss"
    if losses.recovered:
        return "recovered"
    if losses.partial:
        return "none" if tcb.selective else "partial"
    if losses.inflates:
        return "duplicate"
    if effects.acked and not effects.echoed:
        return "acknowledged"
    return otherwise
