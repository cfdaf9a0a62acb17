# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A report names the command that makes it again, a refusal the one that makes what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe.refused import Refused

from sim.experiments.engine.command import NULL, Request, command_line, null_of
from sim.experiments.engine.command import Policies as NullPolicies
from sim.experiments.engine.measures.made_results import results
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


def test_the_null_model_is_in_the_command() -> None:
    null = NullPolicies("standard", "reno")
    assert command_line([FILES["cubic"]], 1, null=null).endswith("cubic SEED=1 STARTUP=standard STEADY=reno")
    assert command_line([Path("a.toml")], 1, null=null).endswith("--seed 1 --startup standard --steady reno")


def test_the_null_model_changes_all_but_its_own_policies(
    tiny: Callable[..., Path], policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.experiments.engine.command.program", lambda file: Path("program"))
    both = 'rate = ["2 Mb/s", "4 Mb/s"]\nsteady = ["reno", "aimd"]'
    path = tiny(('rate = ["2 Mb/s", "4 Mb/s"]', both), ('label = "a"\n', 'label = "a"\nsteady = "$steady"\n'))
    own = load(path, policies)
    null = load(path, policies, startup="standard", steady="reno")
    requests = [Request.of(file, changed, policies, 1, 0) for changed, file in (("", own), (NULL, null))]
    changed = null_of(requests[0], requests[1], results(1, 2)).changed
    assert {dict(each)["steady"] for each in changed} == {"aimd"} and len(changed) == 2


def test_a_preset_that_is_not_elaborated_is_refused_with_its_target(
    tiny: Callable[..., Path], policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = build.ROOT / "build" / "sim" / "rtl-absent"
    monkeypatch.setattr("sim.experiments.engine.runs.program.rtl", lambda preset: absent)
    file = load(tiny(('packet = "1000 B"\n', 'packet = "1000 B"\npreset = "ns2"\n')), policies)
    with pytest.raises(Refused, match=r"make build/sim/rtl-absent\.stamp"):
        program(file)
