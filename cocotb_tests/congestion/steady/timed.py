# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection of golden models on a path of one bottleneck, for steady policies that follow the round trip.

The path is a fluid: a window of w bytes has the round trip max(base, w / capacity), so max(w - capacity base, 0) bytes
wait in its queue. A round of ACKs has one sample, in its first ACK, as the engine takes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sim.golden.congestion.seam import CongestionEvent, Kind, Policy, of_bytes
from sim.golden.congestion.startup.standard import POLICY as STANDARD
from sim.golden.window import CongestionState

SMSS = 1460
SECOND = 1_000_000_000  # ns


@dataclass
class Path:
    """`capacity` in bytes/s, `base` in ns; other flows keep `others` bytes of the queue and the capacity."""

    policy: Policy
    capacity: float
    base: int
    argument: int = 0
    segments: int = 2
    others: float = 0
    now: int = 0
    smallest: int = (1 << 36) - 1
    state: CongestionState = field(init=False)

    def __post_init__(self) -> None:
        self.state = CongestionState(STANDARD, self.policy, steady_policy_state=self.argument)
        self.see(Kind.ESTABLISHED, initial_window=self.segments, initial_ssthresh=self.segments * SMSS)

    @property
    def cwnd(self) -> float:
        """Segments."""
        return self.state.window.cwnd / of_bytes(SMSS)

    @property
    def ssthresh(self) -> float:
        """Segments."""
        return self.state.window.ssthresh / of_bytes(SMSS)

    @property
    def round_trip(self) -> int:
        """ns."""
        return max(self.base, round((self.state.window.cwnd / of_bytes(1) + self.others) / self.capacity * SECOND))

    def see(self, kind: Kind, **more: Any) -> None:
        """An event, and at once what was asked with it."""
        flight = self.state.window.cwnd >> 16
        event = CongestionEvent(
            kind, now=self.now, segment_size=SMSS, rtt_minimum=self.smallest, flight=flight, acked_bytes=0
        )
        event = replace(event, **more)
        requesting = replace(event, starting_up=self.state.window.cwnd < self.state.window.ssthresh)
        policy_state = self.state.steady_policy_state
        requested = self.policy.respond(requesting, self.state.window, policy_state).calculation is not None
        self.state.see(event, requested=requested)
        if requested:
            self.state.see(replace(event, kind=Kind.CALCULATED, rtt=None, acked_bytes=0))

    def round(self, acks: int | None = None) -> None:
        """A window of ACKs of a segment."""
        rtt = self.round_trip
        self.smallest = min(self.smallest, rtt)
        self.now += rtt
        for number in range(int(self.cwnd) if acks is None else acks):
            self.see(Kind.ACKNOWLEDGED, acked_bytes=SMSS, rtt=rtt if number == 0 else None)
