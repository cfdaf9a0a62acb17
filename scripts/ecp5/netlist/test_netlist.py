# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bench NAME=netlist` with tools that leave what the test says: what the report counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import scripts.ecp5.netlist.__main__ as program
from scripts.check.__main__ import REPORT as JUNIT
from scripts.check.junit import write_junit
from scripts.check.rows import Row


def test_the_report_of_one_case_is_not_that_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netlist").write_text(json.dumps({"modules": {"Downbeat": {"attributes": {"top": "1"}, "cells": {}}}}))

    def check(_: list[str], target: str) -> int:
        rows = [Row("netlist/system", "downbeat:one", "failed", 1.0, "it was wrong")]
        write_junit(tmp_path / JUNIT, rows, 7, target)
        return 1

    monkeypatch.setattr(program, "ROOT", tmp_path)
    monkeypatch.setattr(program, "RTL", tmp_path)
    monkeypatch.setattr(program, "REPORT", tmp_path / "netlist.json")
    monkeypatch.setattr(program, "synthesise", lambda _: tmp_path / "netlist")
    monkeypatch.setattr(program, "simulated", lambda *_: [])
    monkeypatch.setattr(program, "build_module", lambda *_, **__: tmp_path)
    monkeypatch.setattr(program, "check", check)
    monkeypatch.chdir(tmp_path)
    assert program.main() == 1
    report = json.loads((tmp_path / "netlist.json").read_text())
    assert (report["ran"], report["passed"], report["failed"]) == (1, 0, 1)
    assert report["cases"] > 1
    assert "make bench NAME=netlist CASE=downbeat:one SEED=7" in (tmp_path / JUNIT).read_text()
