# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Careful Resume (RFC 9959), as rtl/downbeat/congestion/startup/Resume.scala.

Reconnaissance is slow start until the initial data is acknowledged. If the path is as it was and half of cwnd is in
use, cwnd jumps to min(max_jump, saved_cwnd / 2); the segments leave R / jump_cwnd apart. When the window is used up, an
unvalidated segment is acknowledged or R has gone, cwnd becomes the flight, or PipeSize where that is as large. What was
in flight then is validated. A loss or a mark leaves PipeSize / 2 at most.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

from sim.golden.calculation import miss_window
from sim.golden.congestion.packed_fields import PackedFields
from sim.golden.congestion.seam import (
    Calculation,
    Calculator,
    CongestionEvent,
    Departure,
    Kind,
    Pace,
    PolicyResult,
    Window,
    of_bytes,
)
from sim.golden.congestion.slow_start import slow_start

NOT_KNOWN = (1 << 36) - 1  # a round trip
BYTES = (1 << 32) - 1
LARGEST_GAP_REQUEST = {"rate": (1 << 24) - 1, "until_drop": (1 << 40) - 1}  # n = `max_window`: only its gap is wanted


class Phase(IntEnum):
    NORMAL = 0
    RECONNAISSANCE = 1
    UNVALIDATED = 2
    VALIDATING = 3
    RETREAT = 4


@dataclass(frozen=True)
class ResumeState(PackedFields):
    """The policy state, lowest field first."""

    saved: int  # saved_cwnd and max_jump, segments, 16 bits each; from the jump on PipeSize, bytes
    saved_rtt: int  # ns
    phase: int = 0
    newest: int = 0  # round trip, ns; in the jump the gap, ns with 8 fraction bits
    left: int = 0  # bytes that must be acknowledged before the phase ends
    deadline: int = 0  # ns
    acknowledged: int = 0  # a flag, as the next: the first ACK has come
    requesting: int = 0
    settles: int = 0  # cwnd is to become PipeSize with the next ACK

    FIELDS = (
        ("saved", 32),
        ("saved_rtt", 36),
        ("phase", 3),
        ("newest", 44),
        ("left", 32),
        ("deadline", 48),
        ("acknowledged", 1),
        ("requesting", 1),
        ("settles", 1),
    )

    @property
    def jump(self) -> int:
        """Segments: min(max_jump, saved_cwnd / 2)."""
        return min(self.saved >> 16, (self.saved & 0xFFFF) >> 1)


def argument(saved: int, rtt_ns: int, max_jump: int = 0xFFFF) -> int:
    """The argument of a connection: saved_cwnd and max_jump in segments."""
    return ResumeState(max_jump << 16 | saved, rtt_ns).packed()


@dataclass(frozen=True)
class Resume:
    name: str = "resume"
    state: type[PackedFields] = ResumeState
    calculator: Calculator = field(default=miss_window.CALCULATOR)
    bounds: bool = True  # the policy bounds what a loss leaves

    def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
        before = ResumeState.unpacked(policy_state)
        step = _Step(event, window, before)
        step.take()
        departure = Departure()
        if step.after.phase == Phase.UNVALIDATED:
            departure = Departure(Pace.APART, step.after.newest << 8)
        return PolicyResult(step.new, step.after.packed(), departure, step.requested, step.bound, step.retreats)


class _Step:
    """One event."""

    def __init__(self, event: CongestionEvent, window: Window, before: ResumeState) -> None:
        self.event, self.window, self.before = event, window, before
        self.new = slow_start(event, window)
        self.after = before
        self.requested: Calculation | None = None
        self.bound: int | None = None
        self.retreats = False
        self.acks = event.kind is Kind.ACKNOWLEDGED
        self.flight = event.flight - event.acked_bytes  # after an ACK
        self.left = before.left - event.acked_bytes
        self.pipe = (before.saved + event.acked_bytes) & BYTES
        self.initial = event.initial_window * event.segment_size

    def take(self) -> None:
        event, before = self.event, self.before
        if event.rtt is not None and before.phase == Phase.RECONNAISSANCE:
            self.after = replace(self.after, newest=event.rtt)
        if self.acks:
            self.after = replace(self.after, acknowledged=1, left=max(self.left, 0))
        match before.phase:
            case Phase.RECONNAISSANCE:
                self._reconnaissance()
            case Phase.UNVALIDATED:
                self._unvalidated()
            case Phase.VALIDATING:
                self._validating()
            case Phase.RETREAT:
                if self.acks:
                    self.new = replace(self.new, cwnd=self.window.cwnd)
                    if self.left <= 0:
                        self._become(Phase.NORMAL)
        match event.kind:
            case Kind.LOSS | Kind.TIMEOUT | Kind.RESTART:
                if event.kind is Kind.LOSS and before.phase in (Phase.UNVALIDATED, Phase.VALIDATING):
                    self.bound, self.retreats = self.pipe >> 1, True
                self._become(Phase.NORMAL)
            case Kind.ESTABLISHED:
                newest = event.rtt or 0
                self.after = replace(
                    self.after,
                    phase=Phase.RECONNAISSANCE,
                    acknowledged=0,
                    requesting=0,
                    settles=0,
                    left=0,
                    newest=newest,
                )
            case _:
                pass

    def _become(self, phase: Phase) -> None:
        self.after = replace(self.after, phase=phase)

    def _reconnaissance(self) -> None:
        event, before = self.event, self.before
        if self.acks and not before.acknowledged:
            self.after = replace(self.after, left=max(self.flight, 0))
        confirmed = self.acks and (self.left if before.acknowledged else self.flight) <= 0
        same = before.saved_rtt < 2 * event.rtt_minimum and event.rtt_minimum <= 10 * before.saved_rtt
        same = same and event.rtt_minimum != NOT_KNOWN
        if confirmed and not same:
            self._become(Phase.NORMAL)
        used = 2 * event.flight >= self.window.cwnd >> 16
        if (confirmed and used or before.requesting and self.acks) and same and not event.calculating:
            self.after = replace(self.after, requesting=1)
            request = miss_window.Request(
                round_trip=self.after.newest & NOT_KNOWN, max_window=before.jump, **LARGEST_GAP_REQUEST
            )
            self.requested = Calculation(request.packed(), note=self.after.newest)
        if event.kind is Kind.CALCULATED and event.calculated and event.calculated.of_startup and before.requesting:
            self._jump()

    def _jump(self) -> None:
        event, calculated = self.event, self.event.calculated
        assert calculated is not None
        jump = self.before.jump * event.segment_size
        self._become(Phase.NORMAL)
        if calculated.stale or jump <= self.window.cwnd >> 16:
            return
        # Below ssthresh, or the steady policy's windows would count.
        self.new = Window(of_bytes(jump), max(self.new.ssthresh, of_bytes(jump + event.segment_size)))
        self.after = replace(
            self.after,
            phase=Phase.UNVALIDATED,
            saved=event.flight,
            left=event.flight,
            newest=miss_window.Response.unpacked(calculated.response).gap,
            deadline=(event.now + calculated.note) % (1 << 48),
            settles=0,
        )

    def _unvalidated(self) -> None:
        event, before = self.event, self.before
        if event.kind is Kind.SENT and event.flight + 2 * event.segment_size > self.window.cwnd >> 16:
            sent = event.flight + event.segment_size
            self.after = replace(self.after, settles=int(sent <= self.pipe))
            if sent > self.pipe:
                self.after = replace(self.after, phase=Phase.VALIDATING, left=sent & BYTES)
        if not self.acks:
            return
        self.after = replace(self.after, saved=self.pipe)
        self.new = replace(self.new, cwnd=self.window.cwnd)
        late = (before.deadline - event.now) % (1 << 48) >> 47
        if before.settles or self.left < 0 or late:
            self.after = replace(self.after, phase=Phase.VALIDATING, left=self.flight & BYTES)
            self.new = replace(self.new, cwnd=of_bytes(self.flight & BYTES))
            if before.settles or self.flight < self.initial or self.flight <= self.pipe:
                self._become(Phase.NORMAL)
                self.new = replace(self.new, cwnd=of_bytes(max(self.pipe, self.initial)))
        if event.rtt is not None and 2 * event.rtt <= before.saved_rtt:
            half = self.pipe >> 1
            self.after = replace(self.after, phase=Phase.RETREAT, left=max(self.flight, 0))
            self.new = Window(of_bytes(max(half - 1, 0)), of_bytes(half))
            self.retreats = True

    def _validating(self) -> None:
        if not self.acks:
            return
        self.after = replace(self.after, saved=self.pipe)
        if self.left <= 0:
            self._become(Phase.NORMAL)
            self.new = replace(self.new, ssthresh=self.new.cwnd)


POLICY = Resume()
