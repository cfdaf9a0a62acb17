# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make churn` in small: every way to open and to end a connection, and some more drawn ones."""

from __future__ import annotations

import os

from sim.churn.__main__ import churn, story

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


def test_equal_seeds_give_equal_runs() -> None:
    first, second = (churn("connections", SEED, 200) for _ in range(2))
    assert {**first, "wall_seconds": None} == {**second, "wall_seconds": None}


def test_a_failure_is_told_with_the_line_that_repeats_it() -> None:
    result = churn("connections", SEED, 100) | {"failure": "what went wrong"}
    told = story("connections", result)
    assert "what went wrong" in told and f"make churn PART=connections SEED={SEED} CONNECTIONS=100" in told
