# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection's path reports, as rtl/downbeat/report/PathReporter.scala: from the events of its record, in their
order.

RFC 6298 in integers: var4 += |R - smoothed8 / 8| - var4 / 4, then smoothed8 += R - smoothed8 / 8. The averaged window:
awnd += (cwnd - awnd) 131 / 65536, truncated toward zero, with cwnd as it was before the ACK [Yu 2009, p. 30].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

FRACTION_BITS = 16
AVERAGE_SHARE = 131  # in 65,536: the thesis's 0.002
LOSSES = ("loss", "timeout")
HANDSHAKE = ("synSent", "synReceived")


class Phase(IntEnum):
    STARTUP = 0
    AVOIDANCE = 1
    RECOVERY = 2


def averaged(average: int, cwnd: int) -> int:
    """awnd after an ACK; both with 16 fraction bits."""
    distance = cwnd - average
    step = abs(distance) * AVERAGE_SHARE >> 16
    return average + (step if distance >= 0 else -step)


@dataclass(frozen=True)
class PathEvent:
    """An event of a live connection; windows after it, bytes with 16 fraction bits."""

    time: int  # ns
    kind: str  # as CongestionEvent.scala spells it
    established: bool = False  # the connection is established with it
    state: str = "established"
    acked: int = 0  # bytes
    rtt: int | None = None  # ns
    rtt_first: bool = True  # it is the first of its round trip
    segment_size: int = 1460
    recovering: bool = False  # after it
    retreats: bool = False
    cwnd: int = 0
    ssthresh: int = 0


@dataclass(frozen=True)
class Report:
    """A path report: see PathReport.scala."""

    time: int
    phase: Phase
    closed: bool = False
    segment_size: int = 0
    cwnd: int = 0
    ssthresh: int = 0
    smoothed8: int = 0
    var4: int = 0
    smallest_rtt: int = 0
    average_window: int = 0
    since_growth: int = 0  # bytes acknowledged since cwnd changed, at most 2^32 - 1
    losses: int = 0
    loss_time: int = 0
    loss_window: int = 0
    loss_in_avoidance: bool = False
    restarts: int = 0
    retreats: int = 0
    acked: int = 0
    acks: int = 0

    @property
    def growth(self) -> int:
        """Sixteenths of a segment that congestion avoidance has earned beyond cwnd."""
        earns = self.phase is Phase.AVOIDANCE and self.since_growth < self.cwnd
        return 16 * self.since_growth // self.cwnd if earns else 0

    @property
    def smoothed_rtt(self) -> int:
        return self.smoothed8 >> 3

    @property
    def rtt_variation(self) -> int:
        return min(self.var4 >> 2, (1 << 32) - 1)


class PathReporter:
    """One connection's."""

    def __init__(self) -> None:
        self._newest: Report | None = None
        self._reported = 0

    def see(self, event: PathEvent) -> Report | None:
        """The report that the event causes, if any."""
        before = self._newest
        if event.state in HANDSHAKE or (before is None or before.closed) and not event.established:
            return None
        after = self._after(event, before if before is not None and not event.established else None)
        self._newest = after
        smoothed = before.smoothed_rtt if before else 0
        due = (
            event.established
            or event.kind in (*LOSSES, "restart")
            or event.retreats
            or after.closed
            or (before is not None and after.phase is not before.phase)
            or (smoothed > 0 and event.time - self._reported >= smoothed)
        )
        if not due:
            return None
        self._reported = event.time
        return after

    @staticmethod
    def _after(event: PathEvent, before: Report | None) -> Report:
        cwnd = event.ssthresh if event.recovering else event.cwnd
        growing = Phase.STARTUP if event.cwnd < event.ssthresh else Phase.AVOIDANCE
        after = replace(
            before or Report(event.time, growing, average_window=cwnd),
            time=event.time,
            phase=Phase.RECOVERY if event.recovering else growing,
            closed=event.state == "closed",
            segment_size=event.segment_size,
            cwnd=cwnd >> FRACTION_BITS,
            ssthresh=event.ssthresh >> FRACTION_BITS,
        )
        if event.rtt is not None:
            smoothed8, var4 = after.smoothed8, after.var4
            if event.rtt_first:
                error = event.rtt - after.smoothed_rtt
                sampled = after.smoothed8 > 0
                var4 = var4 - (var4 >> 2) + abs(error) if sampled else event.rtt << 1
                smoothed8 = smoothed8 + error if sampled else event.rtt << 3
            smallest = min(after.smallest_rtt, event.rtt) if after.smallest_rtt else event.rtt
            after = replace(after, smoothed8=smoothed8, var4=var4, smallest_rtt=smallest)
        if before is None:
            return after
        if event.acked:
            average = averaged(before.average_window, before.cwnd << FRACTION_BITS)
            after = replace(after, since_growth=min(before.since_growth + event.acked, (1 << 32) - 1))
            after = replace(after, acked=before.acked + event.acked, acks=before.acks + 1, average_window=average)
        if after.cwnd != before.cwnd:
            after = replace(after, since_growth=0)
        if event.kind in LOSSES:
            after = replace(
                after,
                losses=(before.losses + 1) % 256,
                loss_time=event.time,
                loss_window=before.cwnd,
                loss_in_avoidance=before.phase is Phase.AVOIDANCE,
            )
        if event.kind == "restart":
            after = replace(after, restarts=(before.restarts + 1) % 256)
        if event.retreats:
            after = replace(after, retreats=(before.retreats + 1) % 256)
        return after
