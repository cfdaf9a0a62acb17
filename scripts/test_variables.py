# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each variable of make that is wrong is refused in one line that says what to use, before anything is built."""

from __future__ import annotations

import os
import subprocess

import pytest

from scripts.variables import ROOT, VARIABLES, Variable, refusal

NUMBERS = ("abc", "-5", "1e3", "99999999999999")
NAMES = ("nosuch", "RENO", "../reno", "reno;reno")
# What a variable takes, and what its refusal lists.
RIGHT = {
    "TEST": ("rx/test_frame_filter", "the folders are"),
    "CASE": ("test_a_target_ends_before_anything_is_built", "no such case"),
    "SEED": ("7", "from 1 to 2147483647"),
    "JOBS": ("2", "to 256"),
    "PRESET": ("default,flows=64", "default, sim"),
    "MODULE": ("FlowEngine", "CalculatorLogistic, "),
    "POLICY": ("reno", "standard, "),
    "STARTUP": ("spm", "standard, "),
    "STEADY": ("all", "reno, aimd, "),
    "KIND": ("steady", "startup, steady"),
    "BOARD": ("colorlight-i9", "colorlight-i9, ecpix5"),
    "TARGET": ("ecp5", "ecp5, xcup"),
    "GRADE": ("8_5G", "6, 7, 8, 8_5G"),
    "FLOWS": ("64", "power of two, 4 to 32768"),
    "EVENTS": ("100000", "from 1 to"),
    "N": ("3", "from 1 to"),
    "RUNS": ("3", "from 1 to"),
    "SEEDS": ("3", "from 1 to"),
    "TABLE": ("6.1,6.3", "6.1, 6.3"),
    "FRAMES": ("100", "from 1 to"),
    "CONNECTIONS": ("100", "from 1 to"),
    "CELLS": ("0", "from 0 to"),
    "DURATION": ("0.5", "seconds, more than 0"),
    "SIZE": ("64 KiB", "a size from 1 B"),
    "SCHEDULE": ("README.md", "no such file"),
}
RIGHT_NAMES = {"bench": ("wire", "speed, latency"), "experiment": ("carson", "carson, cubic")}
WRONG = {"SIZE": ("abc", "-5", "0", "1TB"), "TABLE": ("9.9", "6.1,9.9"), "FLOWS": (*NUMBERS, "0", "17")}


def identity(variable: Variable) -> str:
    return f"{variable.targets[0]}-{variable.name}"


def expected(variable: Variable) -> tuple[str, str]:
    return RIGHT_NAMES[variable.targets[0]] if variable.name == "NAME" else RIGHT[variable.name]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No variable is set."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("variable", VARIABLES, ids=identity)
def test_a_wrong_value_is_refused_in_a_line_that_lists_what_there_is(
    variable: Variable, alone: pytest.MonkeyPatch
) -> None:
    right, listed = expected(variable)
    digits = right.replace(".", "").isdecimal() and variable.name not in WRONG
    zero = ("0",) if right != "0" and variable.name != "JOBS" else ()
    for wrong in WRONG.get(variable.name, (*NUMBERS, *zero) if digits else NAMES):
        alone.setenv(variable.name, wrong)
        refused = refusal([variable.targets[0]])
        assert refused.startswith(f"{variable.name}={wrong}: ")
        assert "\n" not in refused
        assert listed in refused or "the nearest are" in refused
    for fine in (right, ""):
        alone.setenv(variable.name, fine)
        assert refusal([variable.targets[0]]) == ""


def test_the_nearest_tests_and_cases_are_named(alone: pytest.MonkeyPatch) -> None:
    alone.setenv("TEST", "rx/frame_fliter")
    assert refusal(["test"]).startswith("TEST=rx/frame_fliter: no such test; the nearest are rx/test_frame_filter, ")
    alone.setenv("TEST", "scripts/test_variables")
    alone.setenv("CASE", "test_the_nearest_test_and_case_are_named")
    assert "the nearest are test_the_nearest_tests_and_cases_are_named" in refusal(["test"])


@pytest.mark.parametrize(
    "case",
    ["downbeat:a_shut_window_is_probed_with_one_byte", "probes_leave_at_their_times_and_come_back_with_them/x=1"],
)
def test_a_case_of_another_module_is_one(case: str, alone: pytest.MonkeyPatch) -> None:
    alone.setenv("CASE", case)
    assert refusal(["test"]) == ""


def test_what_a_target_does_not_take_is_not_looked_at(alone: pytest.MonkeyPatch) -> None:
    alone.setenv("NAME", "a machine")
    assert refusal(["test"]) == ""


def test_policies_from_outside_the_tree_count(alone: pytest.MonkeyPatch, tmp_path: os.PathLike[str]) -> None:
    place = ROOT.joinpath(tmp_path, "steady")
    place.mkdir()
    (place / "Quick.scala").touch()
    alone.setenv("POLICY_PATH", str(tmp_path))
    alone.setenv("POLICY", "quick")
    assert refusal(["policies"]) == ""


@pytest.mark.parametrize(
    ("target", "setting"),
    [("policies", "EVENTS=0"), ("policies", "POLICY=nosuch"), ("test", "SEED=abc"), ("experiment", "NAME=nosuch")],
)
def test_a_target_ends_before_anything_is_built(target: str, setting: str) -> None:
    done = subprocess.run(["make", target, setting], cwd=ROOT, text=True, capture_output=True, check=False)
    first, _, rest = done.stderr.partition("\n")
    assert done.returncode == 2
    assert done.stdout == ""
    assert first.startswith(f"{setting}: use ")
    assert len(rest.splitlines()) == 1, "make's own line"
