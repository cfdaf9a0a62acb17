# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The congestion stage's model: RFC 6582's windows around two policies, the envelope, the replay of a record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.golden.congestion.seam import (
    MAXIMUM_WINDOW,
    CongestionEvent,
    Kind,
    Window,
    of_bytes,
)
from sim.golden.congestion.steady import aimd
from sim.golden.policies import STARTUP, STEADY
from sim.golden.replay import replay
from sim.golden.window import CongestionState

SMSS = 1460
NAMES: dict[str, str | int] = {"startup": "standard", "steady": "reno"}
NOTHING_MORE: dict[str, str | int] = {
    "time": 0,
    "requested": 0,
    "estimates": 0,
    "arrival": 0,
    "repeated": 0,
    "sent_probe": 0,
    "sent_ahead": 0,
    "probe": "",
    "departure_gap": 0,
    "arrival_gap": 0,
}


def connection(cwnd: int, ssthresh: int) -> CongestionState:
    """Standard and Reno at windows in bytes."""
    return CongestionState(STARTUP["standard"], STEADY["reno"], Window(of_bytes(cwnd), of_bytes(ssthresh)))


def see(state: CongestionState, kind: Kind, **fields: int) -> tuple[int, int]:
    """cwnd and ssthresh in bytes after an event."""
    window = state.see(replace(CongestionEvent(kind, segment_size=SMSS), **fields))  # type: ignore[arg-type]
    assert window.cwnd % of_bytes(1) == window.ssthresh % of_bytes(1) == 0
    return window.cwnd >> 16, window.ssthresh >> 16


def test_below_ssthresh_start_up_grows_the_window_and_at_it_the_steady_policy() -> None:
    state = connection(15 * SMSS, 16 * SMSS)
    assert see(state, Kind.ACKNOWLEDGED, acked_bytes=SMSS)[0] == 16 * SMSS
    for _ in range(15):
        assert see(state, Kind.ACKNOWLEDGED, acked_bytes=SMSS)[0] == 16 * SMSS
    assert see(state, Kind.ACKNOWLEDGED, acked_bytes=SMSS)[0] == 17 * SMSS


def test_a_fast_recovery_from_loss_to_full_acknowledgment() -> None:
    state = connection(29200, 65536)
    assert see(state, Kind.LOSS, flight=29200) == (14600 + 3 * SMSS, 14600)
    assert see(state, Kind.DUPLICATE, flight=29200) == (20440, 14600)
    assert see(state, Kind.PARTIAL, flight=29200, acked_bytes=4 * SMSS) == (20440 - 3 * SMSS, 14600)
    assert see(state, Kind.RECOVERED, flight=20 * SMSS, acked_bytes=12 * SMSS) == (13140, 14600)


def test_with_sack_a_loss_leaves_the_threshold_alone() -> None:
    """RFC 6675 5, (4.2): cwnd = ssthresh = FlightSize / 2."""
    assert see(connection(29200, 65536), Kind.LOSS, flight=29200, uninflated=True) == (14600, 14600)


@pytest.mark.parametrize(
    ("cwnd", "acked", "after"),
    [
        (18980, 4 * SMSS, 14600),
        (18980, SMSS, 18980),
        (18980, SMSS - 1, 18980 - SMSS + 1),
        (18980, 20 * SMSS, SMSS),  # not below zero, then the segment
        (1500, 1000, SMSS),  # the envelope
    ],
)
def test_a_partial_acknowledgment_deflates(cwnd: int, acked: int, after: int) -> None:
    assert see(connection(cwnd, 14600), Kind.PARTIAL, acked_bytes=acked, flight=40 * SMSS) == (after, 14600)


@pytest.mark.parametrize(
    ("left", "after"), [(8 * SMSS, 13140), (9 * SMSS, 14600), (100 * SMSS, 14600), (0, 2 * SMSS), (1, 2 * SMSS)]
)
def test_a_full_acknowledgment_leaves_no_burst(left: int, after: int) -> None:
    """RFC 6582 3.2: cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS)."""
    state = connection(18980, 14600)
    assert see(state, Kind.RECOVERED, flight=left + 3 * SMSS, acked_bytes=3 * SMSS) == (after, 14600)


def test_a_timeout_restarts_from_one_segment_and_halves_once() -> None:
    state = connection(29200, 65536)
    assert see(state, Kind.TIMEOUT, flight=23360, uninflated=True) == (SMSS, 11680)
    assert see(state, Kind.TIMEOUT_AGAIN, flight=SMSS) == (SMSS, 11680)
    assert see(state, Kind.ACKNOWLEDGED, acked_bytes=SMSS) == (2 * SMSS, 11680)


@pytest.mark.parametrize(("flight", "ssthresh"), [(100 * SMSS, 14600), (14 * SMSS, 7 * SMSS)])
def test_a_timeout_in_a_recovery_does_not_raise_the_threshold(flight: int, ssthresh: int) -> None:
    """RFC 5681 3.1, equation 4: no more than half the flight; and no more than the loss has left of the flight that it
    met."""
    state = connection(29200, 65536)
    assert see(state, Kind.LOSS, flight=29200)[1] == 14600
    assert see(state, Kind.TIMEOUT, flight=flight) == (SMSS, ssthresh)


def test_the_envelope_holds_after_every_event() -> None:
    state = connection(0, 0)
    assert see(state, Kind.NONE) == (SMSS, 2 * SMSS)
    assert see(state, Kind.ESTABLISHED, initial_window=2, initial_ssthresh=(1 << 32) - 1) == (2 * SMSS, MAXIMUM_WINDOW)
    state.window = Window(of_bytes(MAXIMUM_WINDOW), of_bytes(MAXIMUM_WINDOW))
    assert see(state, Kind.DUPLICATE) == (MAXIMUM_WINDOW, MAXIMUM_WINDOW)
    assert see(state, Kind.LOSS, flight=(1 << 32) - 1) == (MAXIMUM_WINDOW, MAXIMUM_WINDOW)
    assert see(state, Kind.ESTABLISHED, initial_window=0, initial_ssthresh=0) == (SMSS, 2 * SMSS)


def test_a_record_is_replayed_row_by_row() -> None:
    common: dict[str, str | int] = (
        NAMES
        | NOTHING_MORE
        | {
            "mss": 1460,
            "uninflated": 0,
            "rtt": "",
            "initial_window": 10,
            "initial_ssthresh": 16060,
        }
    )
    rows: list[dict[str, str | int]] = [
        {"kind": "none", "acked": 0, "flight": 0},
        {"kind": "established", "acked": 0, "flight": 0},
        {"kind": "acknowledged", "acked": 2920, "flight": 14600},
        {"kind": "acknowledged", "acked": 2920, "flight": 14600},
        {"kind": "loss", "acked": "0", "flight": "29200"},
        {"kind": "loss", "acked": "0", "flight": "14600", "uninflated": "1"},
        {"kind": "timeoutAgain", "acked": 0, "flight": 1460},
    ]
    windows = [(window.cwnd >> 16, window.ssthresh >> 16) for window in replay(common | row for row in rows)]
    assert windows == [
        (1460, 2920),
        (14600, 16060),
        (16060, 16060),
        (16060, 16060),
        (18980, 14600),
        (7300, 7300),
        (1460, 7300),
    ]


def test_a_record_keeps_its_policies() -> None:
    row: dict[str, str | int] = {"kind": "none", "acked": 0, "uninflated": 0, "flight": 0, "mss": 1460, "rtt": ""}
    row |= NOTHING_MORE | {"initial_window": 1, "initial_ssthresh": 1}
    with pytest.raises(ValueError, match="row 1 changes the policies to standard, cubic without"):
        list(replay([row | NAMES, row | NAMES | {"steady": "cubic"}]))


def test_when_policies_change_the_windows_stay_and_the_states_restart() -> None:
    state = connection(20 * SMSS, 20 * SMSS)
    see(state, Kind.ACKNOWLEDGED, acked_bytes=19 * SMSS)
    state.change(STARTUP["lbc"], STEADY["aimd"], 0, aimd.argument(0.25, 0.125))
    assert see(state, Kind.ESTABLISHED, initial_window=10, initial_ssthresh=65536) == (20 * SMSS, 20 * SMSS)
    assert state.steady_policy_state == aimd.argument(0.25, 0.125)
    assert see(state, Kind.LOSS, flight=16 * SMSS, uninflated=True) == (14 * SMSS, 14 * SMSS)


@pytest.mark.parametrize("startup", sorted(STARTUP))
@pytest.mark.parametrize(("before", "after"), [(15, 10), (10, 10), (4, 4)])
def test_a_restart_leaves_the_initial_window_at_most(startup: str, before: int, after: int) -> None:
    """RFC 5681 4.1: RW = min(IW, cwnd), and ssthresh stays."""
    window = Window(of_bytes(before * SMSS), of_bytes(20 * SMSS))
    state = CongestionState(STARTUP[startup], STEADY["reno"], window)
    assert see(state, Kind.RESTART, initial_window=10) == (after * SMSS, 20 * SMSS)
