# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Connections whose application writes two segments a round trip: no policy's cwnd goes beyond what the IETF allows a
window that is not used (draft-ietf-ccwg-ratelimited-increase-11 3).

It runs the golden models, to which the RTL of each policy and of the limit is equal.
"""

from __future__ import annotations

from typing import Any

from sim.golden.congestion.seam import CongestionEvent, Kind, of_bytes
from sim.golden.policies import STARTUP, STEADY
from sim.golden.window import CongestionState

ROUND_TRIPS = 2_000
ROUND_TRIP = 10**7  # ns
SEGMENT = 1460  # bytes
FLIGHT = 2  # segments
INITIAL = 10  # segments
LARGE = 1 << 28  # bytes: slow start never ends
SMALL = 2 * SEGMENT  # bytes: it never begins


Case = tuple[str, str, int]  # start-up policy, steady policy, initial ssthresh
# Each start-up policy before `reno`, and each steady one from the first segment on.
CASES: list[Case] = [(name, "reno", LARGE) for name in STARTUP] + [("standard", name, SMALL) for name in STEADY]


class Connection:
    """A connection whose answers to requests come with the next event."""

    def __init__(self, startup: str, steady: str, ssthresh: int, *, limited: bool) -> None:
        self._state = CongestionState(STARTUP[startup], STEADY[steady], growth_limited=limited)
        self._waits = False
        self._see(CongestionEvent(Kind.ESTABLISHED, initial_window=INITIAL, initial_ssthresh=ssthresh))

    def _see(self, event: CongestionEvent) -> None:
        state = self._state
        requests = not self._waits and any(
            policy.respond(event, state.window, word).calculation is not None
            for policy, word in (
                (state.startup, state.startup_policy_state),
                (state.steady, state.steady_policy_state),
            )
        )
        state.see(event, requested=requests)
        if requests:
            self._waits = True
            state.see(CongestionEvent(Kind.CALCULATED, flight=event.flight, now=event.now))
            self._waits = False

    def round_trip(self, number: int) -> None:
        """Each segment is acknowledged for itself."""
        start = number * ROUND_TRIP
        for left in range(FLIGHT, 0, -1):
            flight = left * SEGMENT
            self._see(CongestionEvent(Kind.SENT, flight=flight, now=start))
            self._see(
                CongestionEvent(
                    Kind.ACKNOWLEDGED,
                    acked_bytes=SEGMENT,
                    flight=flight,
                    rtt=ROUND_TRIP,
                    rtt_minimum=ROUND_TRIP,
                    arrival=start,
                    now=start,
                )
            )

    @property
    def segments(self) -> float:
        """cwnd."""
        return self._state.window.cwnd / of_bytes(SEGMENT)


def largest_window(case: Case, round_trips: int, *, limited: bool) -> float:
    """cwnd, segments."""
    connection = Connection(*case, limited=limited)
    largest = 0.0
    for number in range(1, round_trips + 1):
        connection.round_trip(number)
        largest = max(largest, connection.segments)
    return largest


def bound(ssthresh: int) -> float:
    """limit(maxFS), segments: the initial window counts as a flight."""
    return 2 * INITIAL if ssthresh == LARGE else INITIAL + INITIAL / 2


def over_limit(round_trips: int) -> list[str]:
    """The policies whose cwnd goes beyond it."""
    over = [case for case in CASES if largest_window(case, round_trips, limited=True) > bound(case[2])]
    return [case[0] if case[2] == LARGE else case[1] for case in over]


def measure() -> dict[str, Any]:
    """Fields of recovery.json."""
    return {"application_limited_policies": len(CASES), "over_limit": over_limit(ROUND_TRIPS)}
