# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`downbeat experiment` hands its words to the simulation of the source tree, and says where there is none."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from downbeat_toe import experiment_command
from downbeat_toe.__main__ import app
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]


def test_words_go_to_the_trees_program(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, words: called.append(words))
    done = CliRunner().invoke(app, ["experiment", "run", "x.toml", "--seed", "3", "--full"])
    assert done.exit_code == 0
    assert called == [[sys.executable, "-m", "sim.experiments", "run", "x.toml", "--seed", "3", "--full"]]


def test_without_a_file_the_trees_program_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, words: called.append(words))
    assert CliRunner().invoke(app, ["experiment", "run"]).exit_code == 0
    assert called == [[sys.executable, "-m", "sim.experiments", "run"]]


def test_its_usage_is_the_command_that_people_type() -> None:
    words = [sys.executable, "-m", experiment_command.PROGRAM, "run", "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Usage: downbeat experiment run [OPTIONS]" in done.stdout


def test_without_the_tree_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_command, "PROGRAM", "no_such_package.experiments")
    done = CliRunner().invoke(app, ["experiment", "run", "x.toml"])
    assert done.exit_code == 2
    assert "needs the source tree" in done.output


def test_with_the_packages_of_a_simulation_alone_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else whole(name))
    done = CliRunner().invoke(app, ["experiment", "run", "x.toml"])
    assert done.exit_code == 2
    assert "make setup" in done.output
