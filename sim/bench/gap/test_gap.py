# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make gap` in small: every case, two hundred times fewer frames; and the checks, each against what it must refuse."""

from __future__ import annotations

import os
from typing import Any

import pytest

from sim.bench.gap import page
from sim.bench.gap.cases import CASES, Case
from sim.bench.gap.checks import failures
from sim.bench.gap.run import run as run_program
from sim.lib import build

SEED = int(os.environ.get("SEED") or 1)


def run(case: Case) -> dict[str, Any]:
    return run_program(case, SEED, build.gap() / "gap_bench", quick=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    figures = run(case)
    assert not figures["failures"], figures["command"]
    assert figures["frames"] if case.command != "pacer" else figures["grants"]


def _case(command: str, **wanted: Any) -> Case:
    return next(case for case in CASES if case.command == command and wanted.items() <= case.options.items())


BROKEN: tuple[tuple[str, dict[str, Any], dict[str, Any], str], ...] = (
    ("schedule", {}, {"early": 1}, "early"),
    ("schedule", {}, {"max_error_ns": 8.0}, "after its launch"),
    ("schedule", {}, {"late": 1, "late_by_cause": {"arrived": 0, "inverted": 0, "busy": 1}}, "late, up to"),
    ("schedule", {}, {"unexpected": 1}, "first byte time"),
    ("schedule", {}, {"all_back": False}, "not all frames"),
    ("schedule", {}, {"clock_right": False}, "time base"),
    ("schedule", {}, {"wrong_frames": 1}, "damaged"),
    ("schedule", {}, {"wrong_departure_stamps": 1}, "departure stamps"),
    ("schedule", {}, {"max_receive_stamp_error_ns": 8.1}, "receive stamp"),
    ("conflict", {}, {"late_by_cause": {"arrived": 1, "inverted": 0, "busy": 1}, "late": 2}, "another cause"),
    ("conflict", {}, {"late_by_cause": {"arrived": 0, "inverted": 1, "busy": 1}, "late": 2}, "another cause"),
    ("conflict", {}, {"late_by_cause": {"arrived": 0, "inverted": 0, "busy": 5}, "late": 6}, "counters"),
    ("conflict", {}, {"late_by_cause": {"arrived": 0, "inverted": 0, "busy": 0}, "late": 0}, "shows nothing"),
    ("pairs", {"gaps": "timed", "receive_ppm": 100}, {"max_sent_gap_error_ns": 8.0}, "sent gap"),
    ("pairs", {"gaps": "timed", "receive_ppm": 100}, {"max_measured_gap_error_ns": 8.1}, "measured gap"),
    ("pairs", {"gaps": "timed", "receive_ppm": 0}, {"max_measured_gap_error_ns": 0.1}, "one clock at both ends"),
    ("pairs", {"gaps": "back-to-back"}, {"max_sent_gap_error_ns": 0.1}, "with a gap between"),
    ("paced", {"phases": "apart"}, {"rate_error": 1.1e-9, "rate_seconds": 10.0}, "rate error"),
    ("paced", {"phases": "apart"}, {"rate_error": 9.1e-8, "rate_seconds": 0.1}, "rate error"),
    ("paced", {"phases": "apart"}, {"inexact_grants": 1}, "times the spacing"),
    ("paced", {"phases": "any"}, {"grants_out_of_order": 1, "max_steady_disorder_ns": 1.0}, "out of order"),
    ("pacer", {}, {"rate_error": 1.1e-9, "rate_seconds": 10.0}, "rate error"),
)


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, Any]]:
    return {}


@pytest.mark.parametrize(("command", "options", "change", "words"), BROKEN)
def test_a_check_refuses(
    command: str, options: dict[str, Any], change: dict[str, Any], words: str, measured: dict[str, dict[str, Any]]
) -> None:
    case = _case(command, **options)
    if case.name not in measured:
        measured[case.name] = run(case)
    said = failures(case, {**measured[case.name], **change})
    assert len(said) == 1 and words in said[0], said


def test_the_page_names_every_case_and_failure() -> None:
    cases = [{**run(case), "failures": []} for case in (CASES[0], _case("conflict"), _case("pairs", gaps="timed"))]
    text = page.render({"passed": False, "failures": ["nothing <works>"], "seed": SEED, "cases": cases})
    assert "nothing &lt;works&gt;" in text
    assert all(figures["case"] in text for figures in cases)


def test_a_page_has_no_empty_plot_and_no_empty_table() -> None:
    case = {**run(CASES[0]), "failures": [], "case": "a.csv"}
    text = page.render({"passed": True, "failures": [], "seed": SEED, "cases": [case]})
    assert "SFD after launch" in text and "Lateness" not in text and "Rate error" not in text
