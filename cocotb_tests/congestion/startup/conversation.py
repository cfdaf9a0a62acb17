# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A connection of golden models that sees its segments and ACKs: the stage around the policies, and the calculator's
unit."""

from __future__ import annotations

from dataclasses import replace

from sim.golden.congestion.seam import (
    FRACTION_BITS,
    CongestionEvent,
    Departure,
    Kind,
    Policy,
    PolicyResult,
    ProbeAck,
    Window,
)
from sim.golden.congestion.steady.reno import POLICY as RENO
from sim.golden.window import CongestionState


class Conversation:
    """A request of the start-up policy has its response before the next event."""

    def __init__(
        self,
        policy: Policy,
        *,
        segment_size: int = 1460,
        initial_window: int = 2,
        ssthresh: int = 64,
        startup_policy_state: int = 0,
    ) -> None:
        """initial window and ssthresh in segments."""
        self.policy = policy
        self.segment_size = segment_size
        self.state = CongestionState(policy, RENO, startup_policy_state=startup_policy_state)
        self.smallest = CongestionEvent.rtt_minimum
        self.see(
            CongestionEvent(
                Kind.ESTABLISHED,
                segment_size=segment_size,
                initial_window=initial_window,
                initial_ssthresh=ssthresh * segment_size,
            )
        )

    @property
    def departure(self) -> Departure:
        """How the next segment is to leave."""
        departure = self._respond(CongestionEvent(Kind.NONE, segment_size=self.segment_size)).departure
        assert departure is not None
        return departure

    @property
    def window(self) -> Window:
        return self.state.window

    def segments_of_cwnd(self) -> float:
        return self.window.cwnd / (self.segment_size << FRACTION_BITS)

    def segments_of_ssthresh(self) -> float:
        return self.window.ssthresh / (self.segment_size << FRACTION_BITS)

    def see(self, event: CongestionEvent) -> None:
        if event.rtt is not None:
            self.smallest = min(self.smallest, event.rtt)
        event = replace(event, rtt_minimum=self.smallest)
        requesting = self._respond(event).calculation is not None
        self.state.see(event, requested=requesting)
        if requesting:
            self.state.see(replace(event, kind=Kind.CALCULATED, probe=None, rtt=None, acked_bytes=0))

    def _respond(self, event: CongestionEvent) -> PolicyResult:
        event = replace(event, starting_up=self.window.cwnd < self.window.ssthresh)
        return self.policy.respond(event, self.window, self.state.startup_policy_state)

    def sends(self, *, probe: bool = True, ahead: bool = False) -> None:
        """A full segment of new data has left."""
        self.see(CongestionEvent(Kind.SENT, segment_size=self.segment_size, sent_probe=probe, sent_ahead=ahead))

    def acknowledge(self, acked: int, *, rtt: int | None = None, probe: ProbeAck | None = None) -> None:
        kind = Kind.ACKNOWLEDGED if acked else Kind.PAIRED
        self.see(CongestionEvent(kind, acked_bytes=acked, rtt=rtt, segment_size=self.segment_size, probe=probe))

    def pair_goes(self, *, inverted: bool = False) -> None:
        self.sends(ahead=inverted)
        self.sends()

    def pair_returns(self, round_trip: int, gap: int, *, departure_gap: int = 0, inverted: bool = False) -> None:
        """Both ACKs, `gap` ns apart, and one event more; of an inverted pair the second half is timed and acknowledges
        both."""
        second = ProbeAck(departure_gap=departure_gap, arrival_gap=gap)
        if inverted:
            self.acknowledge(0, probe=ProbeAck(begins=True))
            self.acknowledge(2 * self.segment_size, rtt=round_trip, probe=second)
        else:
            self.acknowledge(self.segment_size, rtt=round_trip, probe=ProbeAck(begins=True))
            self.acknowledge(self.segment_size, probe=second)
        self.see(CongestionEvent(Kind.NONE, segment_size=self.segment_size))
