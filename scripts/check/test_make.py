# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A variable that a recipe of the Makefile sets reaches its program, not the line that enters the environment alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("target", "program", "name", "value"),
    [("experiments", "sim.experiments", "NAME", "quick"), ("soak", "scripts.check", "SOAK", "1")],
)
def test_the_program_receives_the_variable(target: str, program: str, name: str, value: str) -> None:
    dry = subprocess.run(("make", "-n", target), cwd=ROOT, check=True, capture_output=True, text=True)
    recipe = dry.stdout.splitlines()[-1]
    assert f"python -m {program}" in recipe
    printing = recipe.replace(f"python -m {program}", f"printenv {name}")
    printed = subprocess.run(("bash", "-c", printing), cwd=ROOT, check=True, capture_output=True, text=True)
    assert printed.stdout.strip() == value


def test_the_help_says_what_bench_does_without_a_name() -> None:
    done = subprocess.run(("make", "help"), cwd=ROOT, check=True, capture_output=True, text=True)
    assert re.search(r"bench +measures the core; without NAME: lists the benches", done.stdout)


def test_no_recipe_sets_a_variable_before_it_enters_the_environment() -> None:
    assert not re.findall(r"^\t@?\w+=\S+ +\$\((?:PY|IN_ENV)\).*", (ROOT / "Makefile").read_text(), re.MULTILINE)
