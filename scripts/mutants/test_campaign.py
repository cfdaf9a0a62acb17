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
from cocotb_tests.bench.ports import top_ports
from scripts.mutants import run as running
from scripts.mutants.campaign import Campaign
from scripts.mutants.draw import Mutant, draw, drawable
from scripts.mutants.files import Files
from scripts.mutants.mutate import Mistake, found_again, listed, planted
from scripts.mutants.sessions import Session
from scripts.mutants.verilog import modules

HERE = Path(__file__).parent
TOP = "Saturate"
SESSION = Session(TOP, __name__)
FULL, HALF = "assign full = (count == 4'b1000);", "assign half = (4'b0100 < count);"
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


def mutant(files: Files, number: int, mode: str, statement: str, port: str = "Y", wire: str = "") -> Mutant:
    """The first mistake of this mode at this port of the statement's cells, or at this net of it."""
    [unit], [module] = files.units, files.modules(TOP)
    for mistake in listed(module, 1000, 1):
        found = Mutant(number, unit, module, mistake)
        if (mistake.kind, mistake.options["port"], found.statement) == (mode, port, statement) and (
            wire in ("", mistake.wire)
        ):
            return found
    raise AssertionError(f"{statement} has no such place")


def test_a_seed_draws_the_same_mutants_again(files: Files) -> None:
    drawn = draw(files, 12, 5, [TOP])
    assert drawn == draw(files, 12, 5, [TOP])
    assert drawn != draw(files, 12, 6, [TOP])
    assert len({each.mistake for each in drawn}) == 12
    assert not draw(files, 12, 5)  # no module of the core


def test_a_mutant_names_its_place(files: Files) -> None:
    found = mutant(files, 1, "const0", HALF)
    assert (found.line, found.signal, found.original) == (16, "half", "4'b0100 < count")
    assert found.mistake.changed == "Y[0] always 0"


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        ("assign sum = (a + b);", True),
        ("assign pipeline_node_19_congestion_choose_cwnd = (a + b);", True),
        ("assign pipeline_node_19_congestion_steady_cubic_add_cwnd = (a + b);", False),
        ("assign _zz_congestion_startup_spm_answer = (a + b);", False),
        ("assign sum = 8'bxxxxxxxx;", False),
        ("if((isValid || (! idleStandsStill_1_standsStill))) begin", False),
    ],
)
def test_what_no_test_could_tell_is_not_drawn(line: str, drawn: bool) -> None:
    [module] = modules(f"module Small (\n  {line}\nendmodule\n")
    mistake = Mistake(f"mutate -mode inv -module Small -cell $add$x -port Y -portbit 0 -src module.v:2.3-2.{len(line)}")
    assert drawable(module, mistake) == drawn


def test_a_planted_module_has_its_ports_and_a_switch_for_each_mutant(files: Files) -> None:
    [module] = files.modules(TOP)
    drawn = draw(files, 12, 5, [TOP])
    text = planted(module, {each.number: each.mistake for each in drawn})
    assert top_ports(text + "\n", TOP) == top_ports(module.text + "\n", TOP)
    for each in drawn:
        assert text.count(f"mutant_ == 32'd{each.number};") == 1
        assert text.count(f"differs_{each.number}_ = 1'b1;") == 1


def test_a_place_is_found_again_in_another_file(files: Files) -> None:
    """There SpinalHDL's own names have other numbers, and the clock another name."""
    [home] = modules(files.text(TOP).replace("full", "full_4"))
    around = "module Around (\n);\nendmodule\n\n"
    [_, other] = modules(around + files.text(TOP).replace("full", "full_17").replace("clk", "clock"))
    drawn = listed(home, 12, 1)
    again = found_again(drawn, home, other)
    assert all(each and each.key(other) == mistake.key(home) for each, mistake in zip(again, drawn, strict=True))
    [changed] = modules(files.text(TOP).replace("half =", "quarter ="))
    half = mutant(files, 1, "const0", HALF).mistake
    assert found_again([half], files.modules(TOP)[0], changed) == [None]


@pytest.mark.soak
def test_a_test_kills_what_it_sees_and_leaves_what_it_does_not(files: Files, tmp_path: Path) -> None:
    both = Files([SESSION, WRONG], HERE)
    always_adds = mutant(both, 3, "const1", "if((add && (! full))) begin", "A", "add")
    drawn = [mutant(both, 1, "inv", FULL), mutant(both, 2, "inv", HALF), always_adds]
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
    [module] = files.modules(TOP)
    verilog.write_text(planted(module, {1: mutant(files, 1, "const0", FULL).mistake}) + "\n")
    assert running.run(SESSION, verilog, 0, None, HERE).end == "passed"
    assert running.run(SESSION, verilog, 1, 0.0, HERE).end == "timed out"
