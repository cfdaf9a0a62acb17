# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The congestion stage's rules around the policies: the limit of growth, and reductions that are taken back."""

from __future__ import annotations

import pytest

from sim.golden.congestion.seam import CongestionEvent, DeliverySample, Kind, Window, of_bytes
from sim.golden.congestion.steady.bbr import BbrState
from sim.golden.policies import STARTUP, STEADY
from sim.golden.window import CongestionState

MSS = 1460
IW = 4  # segments
LARGE = 1 << 28  # bytes


def established(startup: str, steady: str, *, limited: bool, ssthresh: int = LARGE) -> CongestionState:
    state = CongestionState(STARTUP[startup], STEADY[steady], growth_limited=limited)
    state.see(CongestionEvent(Kind.ESTABLISHED, initial_window=IW, initial_ssthresh=ssthresh))
    return state


def rounds(state: CongestionState, count: int, flight: int) -> int:
    """So many round trips with so many segments in flight, each acknowledged for itself; cwnd, segments."""
    for number in range(count):
        for left in range(flight, 0, -1):
            state.see(
                CongestionEvent(
                    Kind.ACKNOWLEDGED,
                    acked_bytes=MSS,
                    flight=left * MSS,
                    rtt=10**7,
                    rtt_minimum=10**7,
                    now=number * 10**7,
                )
            )
    return state.window.cwnd // of_bytes(MSS)


@pytest.mark.parametrize(("ssthresh", "bound"), [(LARGE, 2 * IW), (2 * MSS, IW + IW // 2)])
def test_a_window_that_is_not_used_does_not_grow(ssthresh: int, bound: int) -> None:
    """Section 3: limit(maxFS), with the initial window for maxFS: of slow start, and of congestion avoidance."""
    state = established("standard", "reno", limited=True, ssthresh=ssthresh)
    assert rounds(state, 200, 2) <= bound
    assert rounds(established("standard", "reno", limited=False, ssthresh=ssthresh), 200, 2) > 2 * bound


def test_a_reduction_restarts_the_largest_flight() -> None:
    """Section 3: maxFS is zero then."""
    state = established("standard", "reno", limited=True)
    rounds(state, 1, 8)
    state.see(CongestionEvent(Kind.TIMEOUT, flight=8 * MSS, uninflated=True))
    assert rounds(state, 200, 2) <= 4


@pytest.mark.parametrize("startup", ["standard", "hystart", "limited"])
def test_a_window_that_is_used_grows_as_without_the_limit(startup: str) -> None:
    limited, free = (established(startup, "reno", limited=limit) for limit in (True, False))
    for _ in range(8):
        flight = free.window.cwnd // of_bytes(MSS)
        assert rounds(limited, 1, flight) == rounds(free, 1, flight)


@pytest.mark.parametrize("kind", [Kind.LOSS, Kind.TIMEOUT])
@pytest.mark.parametrize("steady", ["reno", "cubic", "westwood"])
def test_a_spurious_reduction_gives_all_back(kind: Kind, steady: str) -> None:
    """RFC 4015 3.2; RFC 9438 4.9: W_max, K and the epoch are what they were."""
    state = established("standard", steady, limited=True, ssthresh=8 * MSS)
    rounds(state, 20, 12)
    before = state.window.cwnd & ~0xFFFF, state.window.ssthresh, state.steady_policy_state
    state.see(CongestionEvent(kind, flight=10 * MSS, uninflated=True))
    assert state.window.cwnd < before[0]
    state.see(CongestionEvent(Kind.UNDONE, flight=10 * MSS, acked_bytes=MSS))
    assert (state.window.cwnd, state.window.ssthresh, state.steady_policy_state) == before


def test_a_window_that_has_grown_since_stays() -> None:
    state = established("standard", "reno", limited=False, ssthresh=8 * MSS)
    rounds(state, 1, 8)
    state.see(CongestionEvent(Kind.LOSS, flight=2 * MSS, uninflated=True))
    state.see(CongestionEvent(Kind.RECOVERED, flight=40 * MSS))
    rounds(state, 40, 20)
    grown = state.window
    after = state.see(CongestionEvent(Kind.UNDONE))
    assert isinstance(after, Window) and after.cwnd >= grown.cwnd


def test_another_policy_takes_no_reduction_back() -> None:
    state = established("standard", "cubic", limited=False)
    state.see(CongestionEvent(Kind.LOSS, flight=10 * MSS, uninflated=True))
    state.change(state.startup, STEADY["reno"], 0, 0)
    state.see(CongestionEvent(Kind.ESTABLISHED, initial_window=2))
    with pytest.raises(ValueError, match="taken back"):
        state.see(CongestionEvent(Kind.UNDONE))


def test_a_model_of_the_path_outlasts_a_reduction() -> None:
    """BBR's response counts after a loss and though little is in flight; `undone` leaves it its state."""
    state = established("standard", "bbr", limited=True)
    sample = DeliverySample(delivered=40 * MSS, interval=10**6, in_flight=MSS)
    acked = CongestionEvent(Kind.ACKNOWLEDGED, acked_bytes=MSS, flight=MSS, rtt=10**6, delivery=sample)
    state.see(acked, requested=True)
    state.see(CongestionEvent(Kind.LOSS, flight=MSS, uninflated=True))
    recovered = state.see(CongestionEvent(Kind.RECOVERED, flight=2 * MSS, acked_bytes=MSS))
    response = state.see(CongestionEvent(Kind.CALCULATED, flight=MSS))
    assert response.cwnd == response.ssthresh > recovered.cwnd
    assert state.see(CongestionEvent(Kind.RESTART, initial_window=2)) == response
    state.see(CongestionEvent(Kind.UNDONE, flight=MSS))
    policy_state = BbrState.unpacked(state.steady_policy_state)
    assert (policy_state.known, policy_state.undone) == (1, 1)
