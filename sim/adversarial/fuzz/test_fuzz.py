# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The fuzzer, shortly; what it finds wrong fails here, with the line that shows it again."""

from __future__ import annotations

import os

from sim.adversarial.fuzz.__main__ import fuzz, story

SEED = int(os.environ.get("SEED", "1"))


def test_twenty_thousand_mutants_hurt_nobody() -> None:
    result = fuzz(SEED, 20_000)
    assert not result["failure"], story(result)
    assert result["mutants"] == 20_000
    # Not beside the point: the live streams moved, the others were opened, and mutants got as far as a connection.
    assert result["live_bytes_to_core"] > 50_000 and result["live_bytes_from_core"] > 50_000
    assert result["connections_accepted"] > 20
    assert result["segment_events"] > 2_000
    assert result["kept_off_live"] > 500
    assert result["control_alone"] > 500 and result["report_events"] > 20
    assert result["arp_replies"] > 100 and result["echo_replies"] > 100 and result["announcements"] > 0
    assert result["slot_burst_refused"] > 0
    assert all(count > 0 for count in result["mutations"].values())


def test_equal_seeds_give_equal_runs() -> None:
    first, second = (fuzz(SEED, 2_000) for _ in range(2))
    assert {**first, "wall_clock": None} == {**second, "wall_clock": None}
    other = fuzz(SEED + 1, 2_000)
    assert first["counters"] != other["counters"]


def test_a_failure_is_reported_with_the_line_that_repeats_it() -> None:
    result = fuzz(SEED, 200) | {"failure": "what went wrong"}
    report = story(result)
    for word in ("what went wrong", "at mutant 200", "receive_options=", f"make fuzz SEED={SEED} FRAMES=300 WAVES=1"):
        assert word in report
