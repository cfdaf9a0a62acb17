# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A report names the command that makes it again, a refusal the one that makes what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe.refused import Refused

from sim.experiments.engine.command import command_line
from sim.experiments.engine.runs.program import program
from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.load import load
from sim.experiments.names import FILES
from sim.lib import build


def test_a_file_of_the_tree_is_made_again_by_make(monkeypatch: pytest.MonkeyPatch) -> None:
    given = command_line([FILES["cubic"]], 3, True, 5, "90 s", True)
    assert given == "make experiment NAME=cubic SEED=3 FULL=1 RUNS=5 DURATION=90 VARY=1"
    monkeypatch.setenv("NAME", "quick")
    assert command_line(list(FILES.values()), 1) == "make experiments SEED=1"


def test_other_files_are_made_again_by_their_paths() -> None:
    given = command_line([Path("mine.toml"), FILES["cubic"]], 3, True, 5, "90 s", True)
    options = "--seed 3 --full --runs 5 --duration '90 s' --vary"
    assert given == f"downbeat experiment run mine.toml {FILES['cubic']} {options}"
    assert command_line([Path("mine.toml")], 1) == "downbeat experiment run mine.toml --seed 1"


def test_a_preset_that_is_not_elaborated_is_refused_with_its_target(
    tiny: Callable[..., Path], policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = build.ROOT / "build" / "sim" / "rtl-absent"
    monkeypatch.setattr("sim.experiments.engine.runs.program.rtl", lambda preset: absent)
    file = load(tiny(('packet = "1000 B"\n', 'packet = "1000 B"\npreset = "ns2"\n')), policies)
    with pytest.raises(Refused, match=r"make build/sim/rtl-absent\.stamp"):
        program(file)
