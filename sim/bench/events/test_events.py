# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=events` in small: an event a clock round robin, one in eight of one flow, whatever policies the
flows have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sim.bench.events.cases import MIXED, BenchFailed, Case, all_cases, run
from sim.lib import build

SEED = int(os.environ.get("SEED") or 1)
EVENTS = 10_000
MANY = 40_000  # Carson calculates once in some thousand
FLOW_SPACING = 8  # clocks
# Steady policies that calculate ask within MANY events, start-ups perhaps.
CALCULATING = {*MIXED.split(", "), "bbr", "carson", "cubic", "fast", "logistic", "vegas"}
PERHAPS = {"hoe", "miss", "past", "rapid", "resume", "search", "spm", "spmastart", "vegasstart"}


@pytest.fixture(scope="module")
def program() -> Path:
    return build.events() / "events_bench"


@pytest.mark.parametrize("flows", [8, 16])
def test_round_robin_there_is_an_event_in_every_clock(program: Path, flows: int) -> None:
    assert run(Case("round", flows), EVENTS, SEED, program)["clocks"] == EVENTS


@pytest.mark.parametrize("policies", ["", MIXED])
def test_one_flow_has_every_eighth_clock(program: Path, policies: str) -> None:
    assert run(Case("one", 1, policies), EVENTS // 10, SEED, program)["rate"] == 1 / FLOW_SPACING


EACH = [case.policies for case in all_cases() if case.policies and case.flows == 16 and case.order == "round"]


@pytest.mark.parametrize("policies", EACH)
def test_policies_of_the_flows_hardly_change_the_rate(program: Path, policies: str) -> None:
    """95 % of all clocks have an event, while segments, losses and long calculations come back as events of their
    own."""
    figures = run(Case("round", 16, policies), EVENTS, SEED, program)
    assert figures["rate"] > 0.95
    assert figures["segments"] > EVENTS // 10 and figures["retransmissions"] > 0
    assert figures["kinds"].get("calculated", 0) <= figures["calculations"] + 16


@pytest.mark.parametrize("policies", [each for each in EACH if not PERHAPS & set(each.split(", "))])
def test_policies_with_a_calculation_unit_ask_it_and_no_others_do(program: Path, policies: str) -> None:
    figures = run(Case("round", 16, policies), MANY, SEED, program)
    assert ("calculated" in figures["kinds"]) == bool(CALCULATING & set(policies.split(", ")))


def test_a_bench_that_fails_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "events_bench"
    program.write_text('#!/bin/sh\necho \'{"failure": "the engine has stopped"}\'\nexit 2\n')
    program.chmod(0o755)
    with pytest.raises(
        BenchFailed, match=r"16 flows, random, no connection: the engine has stopped; again: .* random 1 1"
    ):
        run(Case("random", 16), 1, 1, program)
