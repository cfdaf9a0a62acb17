# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=churn` in small: every way to open and to end a connection, some more drawn ones, a short flood,
some blind segments."""

from __future__ import annotations

import os

import pytest

from sim.adversarial.churn.__main__ import churn, story

SEED = int(os.environ.get("SEED", "1"))


def test_connections_leave_nothing_behind() -> None:
    result = churn("connections", SEED, 400)
    assert not result["failure"], story("connections", result)
    assert result["connections"] == 400 and result["established"] > 250
    assert not result["timer_armed"]
    before, after = result["slot_burst_refused"]
    assert before == after > 0, "the burst shows how many slots there are"
    # Not beside the point: each opening met each ending.
    openings = ("passive", "active", "simultaneous", "simultaneous, SYN lost")
    endings = {way.split(" / ")[1] for way in result["ways"] if " / " in way}
    assert len(endings) > 30
    assert {f"{opening} / {ending}" for opening in openings for ending in endings} <= set(result["ways"])


@pytest.mark.soak
def test_a_syn_flood_takes_little_of_a_transfer_and_keeps_nobody_out() -> None:
    result = churn("flood", SEED, 3000)
    assert not result["failure"], story("flood", result)
    assert result["goodput_kept"] >= 0.95 and result["quiet_goodput"] > 700e6
    assert result["clients"] == 20 and result["slowest_connect"] < 3
    # Not beside the point: the backlog was full, and clients came in by their cookies.
    assert result["cookies_sent"] > 2900 and result["cookies_accepted"] > 10


def test_blind_segments_hurt_no_connection() -> None:
    result = churn("blind", SEED, 5000)
    assert not result["failure"], story("blind", result)
    assert result["bytes"] > 100_000 and result["in_window"] > 1000
    assert all(result[kind] > 1000 for kind in ("RST", "SYN", "data"))


def test_equal_seeds_give_equal_runs() -> None:
    first, second = (churn("connections", SEED, 200) for _ in range(2))
    assert {**first, "wall_seconds": None} == {**second, "wall_seconds": None}


def test_a_failure_is_reported_with_the_line_that_repeats_it() -> None:
    result = churn("connections", SEED, 100) | {"failure": "what went wrong"}
    report = story("connections", result)
    assert (
        "what went wrong" in report and f"make bench NAME=churn PART=connections SEED={SEED} CONNECTIONS=100" in report
    )
