# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fmax GUARD=1` with tools that leave the reports of modules as fast as the test says."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import scripts.ecp5.fmax.guard as program
from scripts.ecp5.fmax.tools import ROOT, ToolFailed


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The guard's exit status for the clocks that modules reach, with limits of 100 MHz for two of them."""

    def run(**clocks: float) -> int:
        limits = tmp_path / "guarded.toml"
        limits.write_text("[modules]\nPacer = 100\n[ten]\nParser = 100\n")
        for module, clock in clocks.items():
            path = [{"type": "setup", "delay": 1.0, "from": {"cell": "a"}, "to": {"loc": [1, 2], "port": "DI"}}]
            found = {
                "critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": path}],
                "fmax": {"clk": {"achieved": clock}},
            }
            (tmp_path / f"{module}.json").write_text(json.dumps(found))
        monkeypatch.setattr(program, "GUARDED", limits)
        monkeypatch.setattr(program, "elaborate", lambda module, _: tmp_path / f"{module}.v")
        monkeypatch.setattr(program, "synthesise", lambda verilog: verilog)
        monkeypatch.setattr(program, "place_and_route", lambda netlist, *_: netlist.with_suffix(".json"))
        return program.main()

    return run


def test_modules_at_their_limit_pass(run: Any) -> None:
    assert run(Pacer=100.0, Parser=170.2) == 0


def test_one_module_below_its_limit_fails_and_is_named_alone(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Pacer=120.0, Parser=99.98) == 1
    said = capsys.readouterr()
    assert "Parser is too slow: `make fmax MODULE=Parser PRESET=ten GRADE=8`" in said.err and "Pacer" not in said.err
    assert "Pacer (default, grade 6): 120.0 MHz, at least 100" in said.out


def test_a_tool_that_fails_is_no_pass(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Pacer=120.0, Parser=120.0) == 0

    def refuses(*_: object) -> Path:
        raise ToolFailed("nextpnr failed")

    monkeypatch.setattr(program, "place_and_route", refuses)
    assert program.main() == 1


def test_a_module_that_does_not_elaborate_is_no_pass(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Pacer=120.0, Parser=120.0) == 0

    def refuses(*_: object) -> Path:
        raise subprocess.CalledProcessError(1, "scripts/rtl.sh")

    monkeypatch.setattr(program, "elaborate", refuses)
    assert program.main() == 1


def test_every_guarded_module_is_one() -> None:
    modules = re.findall(r'^ *"(\w+)" -> ', (ROOT / "rtl/downbeat/builds/Modules.scala").read_text(), re.MULTILINE)
    tables = tomllib.loads(program.GUARDED.read_text())
    assert set(tables) == set(program.BUILDS)
    assert all(guarded and set(guarded) <= set(modules) for guarded in tables.values())
