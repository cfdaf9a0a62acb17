# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Situations: each is reported for its own event and not for the one beside it."""

from __future__ import annotations

import pytest
from downbeat_toe.structures import Event

from sim.bench.policies.situations import IDLE_NS, Watched

SMSS = 1000
Fields = tuple[str, str, dict[str, int]]  # meaning for the window, kind, its fields


def situations(*events: Fields) -> list[list[str]]:
    """The situations of each event."""
    watched = Watched()
    usual = {"segment_size": SMSS, "flight": 10 * SMSS, "cwnd": 10 * SMSS << 16, "ssthresh": 10 * SMSS << 16}
    return [list(watched.after(Event(**(usual | fields)), kind, name)) for kind, name, fields in events]


def event(kind: str, name: str = "segment", /, **fields: int) -> Fields:
    return kind, name, fields


@pytest.mark.parametrize(
    ("acked", "situation"),
    [
        (SMSS - 1, []),
        (SMSS, ["ACK of a segment"]),
        (SMSS + 1, []),
        (2 * SMSS, ["delayed ACK"]),
        (9 * SMSS, ["delayed ACK"]),
    ],
)
def test_acks_of_a_segment_and_of_several(acked: int, situation: list[str]) -> None:
    assert situations(event("acknowledged", acked=acked)) == [situation]


def test_a_second_hole_and_a_timeout_belong_to_the_recovery_that_they_are_in() -> None:
    kinds = ("loss", "partial", "recovered", "timeout", "timeoutAgain", "loss", "timeout", "timeout")
    assert situations(*map(event, kinds)) == [
        ["loss"],
        ["loss in a loss"],
        [],
        ["timeout"],
        ["timeout again"],
        ["loss"],
        ["timeout in recovery"],
        ["timeout"],
    ]


def test_numbers_wrap_where_una_goes_through_zero() -> None:
    numbers = (2**32 - 2000, 2**32 - 1, 5, 2**31, 2**32 - 9, 2**32 - 10)
    assert [bool(of) for of in situations(*(event("none", acknowledged=number) for number in numbers))] == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]


def test_both_windows_at_their_least() -> None:
    smallest = {"cwnd": SMSS << 16, "ssthresh": 2 * SMSS << 16}
    assert situations(event("none", **smallest), event("none", **(smallest | {"cwnd": (SMSS << 16) + 1}))) == [
        ["smallest windows"],
        [],
    ]


@pytest.mark.parametrize(("pause", "situation"), [(IDLE_NS, []), (IDLE_NS + 1, ["restart from idle"])])
def test_a_restart_comes_after_a_second_with_nothing_in_flight(pause: int, situation: list[str]) -> None:
    *_, restart, next_one = situations(
        event("acknowledged", time=5, flight=3 * SMSS, acked=3 * SMSS - 1),
        event("none", time=10, flight=1, acked=1),
        event("none", time=10 + pause // 2, flight=0),
        event("sent", time=10 + pause, flight=0),
        event("sent", time=10 + 3 * pause, flight=SMSS),
    )
    assert (restart, next_one) == (situation, [])


@pytest.mark.parametrize("end", ["close", "abort"])
def test_an_end_or_a_change_counts_while_a_calculation_is_under_way(end: str) -> None:
    assert situations(
        event("none", end),
        event("acknowledged", requested=1),
        event("none", "setPolicies"),
        event("none", end),
        event("calculated", "calculated"),
        event("none", end),
        event("none", "setPolicies"),
    ) == [
        [],
        [],
        ["policies changed", "policies changed while calculating"],
        ["ended while calculating"],
        [],
        [],
        ["policies changed"],
    ]
