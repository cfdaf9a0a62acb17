# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Mutants of a small module from the drawing to the verdict: seeds reproduce, a mutant is one place, tests kill what
they see."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from cocotb_tests.bench import clocks, start
from scripts.mutants import run as running
from scripts.mutants.campaign import Campaign
from scripts.mutants.draw import Mutant, draw, drawable, found_again, scala_name
from scripts.mutants.files import Files
from scripts.mutants.kinds import changes
from scripts.mutants.plant import Planted, plant, planted
from scripts.mutants.sessions import Session
from scripts.mutants.verilog import modules

HERE = Path(__file__).parent
TOP = "Saturate"
SESSION = Session(TOP, __name__)
WRONG = Session(TOP, __name__, "wrong", {"environment": {"SATURATE_AT": "7"}})  # fails whatever the Verilog


@cocotb.test()
async def the_count_stops_when_it_is_full(dut: Any) -> None:
    await start(dut, add=1)
    while not dut.full.value:
        await RisingEdge(dut.clk)
    await clocks(dut, 3)
    assert dut.total.value == int(os.environ.get("SATURATE_AT", "8"))


@pytest.fixture
def files() -> Files:
    return Files([SESSION], HERE)


def mutant(files: Files, number: int, target: str, kind: str, choice: int = 0) -> Mutant:
    """That of this kind at the last statement which writes this."""
    [unit], [module] = files.units, files.modules(TOP)
    for statement in reversed(module.statements):
        for change in changes(module, statement):
            if (scala_name(statement.target), change.kind, change.choice) == (target, kind, choice):
                return Mutant(number, unit, module.name, statement, change)
    raise AssertionError(f"{target} has no such place")


def test_a_seed_draws_the_same_mutants_again(files: Files) -> None:
    drawn = draw(files, 12, 5, [TOP])
    assert drawn == draw(files, 12, 5, [TOP])
    assert drawn != draw(files, 12, 6, [TOP])
    assert len({(each.statement.line, each.change) for each in drawn}) == 12
    assert not draw(files, 12, 5)  # no module of the core


def place(files: Files, each: Mutant) -> Planted:
    return planted(each.number, files.modules(TOP)[0], each.statement, each.change)


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        ("assign sum = (a + b);", True),
        ("assign pipeline_node_19_congestion_choose_cwnd = (a + b);", True),
        ("assign pipeline_node_19_congestion_steady_cubic_add_cwnd = (a + b);", False),
        ("_zz_congestion_startup_spm_answer <= (a + b);", False),
        ("assign sum = 8'bxxxxxxxx;", False),
        ("if((isValid || (! idleStandsStill_1_standsStill))) begin", False),
    ],
)
def test_what_no_test_could_tell_is_not_drawn(line: str, drawn: bool) -> None:
    [module] = modules(f"module Small (\n  input  wire clk\n);\n  {line}\nendmodule\n")
    assert drawable(module.statements[0]) == drawn


def test_a_mutant_changes_one_place(files: Files) -> None:
    text = files.text(TOP)
    for each in draw(files, 12, 5, [TOP]):
        changed = plant(text, [place(files, each)])
        switch = f"((mutant_ == {each.number}) ? ({each.change.text}) : ({each.original}))"
        assert changed.count(switch) == 1
        lines = [line for line in changed.replace(switch, each.original).split("\n") if "mutant_" not in line]
        removed = [line for line in text.split("\n") if line not in lines]
        assert len(removed) <= 1  # the statement that is watched


def test_mutants_within_each_other_are_switched_apart(files: Files) -> None:
    outer, inner = mutant(files, 1, "count", "stale"), mutant(files, 2, "count", "constant")
    text = plant(files.text(TOP), [place(files, inner), place(files, outer)])
    assert "count <= ((mutant_ == 1) ? (count) : ((count + ((mutant_ == 2) ? (4'h2) : (4'b0001)))));" in text
    assert text.count("mutant_ == ") == 2


def test_a_place_is_found_again_in_another_file(files: Files, tmp_path: Path) -> None:
    """There SpinalHDL's own names have other numbers."""
    (tmp_path / f"{TOP}.v").write_text(files.text(TOP).replace("full", "_zz_when_4"))
    (tmp_path / "Around.v").write_text(
        files.text(TOP).replace("full", "_zz_when_17") + "\nmodule Around (\n);\nendmodule\n"
    )
    scala = tmp_path / "scala" / "mutants"
    scala.mkdir(parents=True)
    (scala / "Saturate.scala").write_text("case class Saturate() extends Component")
    both = Files([SESSION, Session("Around", "cocotb_tests.test_around")], tmp_path, tmp_path / "scala")
    [drawn] = [
        each for each in draw(both, 30, 1, [TOP]) if each.kind == "comparison" and "when" in each.statement.target
    ]
    found = found_again(both, drawn, "Around")
    assert found
    assert found[1].target == "_zz_when_17"
    assert found[2].text == drawn.change.text


@pytest.mark.soak
def test_a_test_kills_what_it_sees_and_leaves_what_it_does_not(files: Files, tmp_path: Path) -> None:
    both = Files([SESSION, WRONG], HERE)
    always_added = mutant(both, 3, "add && (! full)", "condition", 1)
    drawn = [mutant(both, 1, "full", "constant"), mutant(both, 2, "half", "comparison"), always_added]
    lines: list[str] = []
    campaign = Campaign(both, drawn, 1, lines.append, tmp_path)
    killed, survived, unreached = campaign.run()
    assert (killed.killed_by, killed.end, killed.case) == (SESSION.name, "failed", the_count_stops_when_it_is_full.name)
    assert not survived.killed_by
    assert survived.passed == [SESSION.name]  # the wrong session judges nothing
    assert (unreached.killed_by, unreached.passed, unreached.same) == ("", [], [SESSION.name])
    assert list(campaign.broken) == [WRONG.name]
    assert any(line.startswith("BROKEN") for line in lines)


def test_a_simulation_that_hangs_is_ended(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "SLACK_SECONDS", 4)
    verilog = tmp_path / f"{TOP}.v"
    verilog.write_text(plant(files.text(TOP), [place(files, mutant(files, 1, "count", "wrap", 1))]))
    assert running.run(SESSION, verilog, 0, None, HERE).end == "passed"
    assert running.run(SESSION, verilog, 1, 0.0, HERE).end == "timed out"
