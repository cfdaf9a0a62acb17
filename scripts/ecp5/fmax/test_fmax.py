# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fmax` on a report as nextpnr-ecp5 writes it, shortened: what is read, and what a slow or missing clock does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import scripts.ecp5.fmax.__main__ as program
from scripts.ecp5.fmax import tools
from scripts.ecp5.fmax.report import Hop, ReportIncomplete, rtl_name, size, timing
from scripts.ecp5.placement.annealing import ANNEALED
from scripts.failure import RoundsOver

CLOCK = "$glbnet$clk"


def part(kind: str, delay: float, begin: str, end: str, net: str = "") -> dict[str, Any]:
    """One delay of a path; `begin` and `end` are CELL.PORT."""
    ends = ({"cell": at.rsplit(".", 1)[0], "loc": [6, 36], "port": at.rsplit(".", 1)[1]} for at in (begin, end))
    return {"type": kind, "delay": delay, "from": next(ends), "to": next(ends)} | ({"net": net} if net else {})


@pytest.fixture
def report() -> dict[str, Any]:
    register, lut, carry, second = "dut.spot_TRELLIS_FF_Q_3.Q", "dut.a_LUT4_Z", "dut.s_CCU2C_S0", "dut.s_CCU2C_S0_1"
    path = [
        part("clk-to-q", 0.5, register, register),
        part("routing", 2.0, register, f"{lut}.D", "dut.spot[3]"),
        part("logic", 0.25, f"{lut}.D", f"{lut}.F"),
        part("routing", 1.0, f"{lut}.F", f"{carry}.A0", "dut.a_LUT4_Z"),
        part("logic", 0.5, f"{carry}.A0", f"{carry}.FCO"),
        part("logic", 0.25, f"{carry}.FCO", f"{second}.FCI"),
        part("setup", 0.5, "dut.end.DI", "dut.end.DI"),
    ]
    outside = {"from": "<async>", "to": f"posedge {CLOCK}", "path": [part("setup", 9.0, "pad.DI", "pad.DI")]}
    inside = {"from": f"posedge {CLOCK}", "to": f"posedge {CLOCK}", "path": path}
    return {"critical_paths": [outside, inside], "fmax": {CLOCK: {"achieved": 84.987, "constraint": 110}}}


def test_the_clock_and_its_own_path_are_read_not_a_pins(report: dict[str, Any]) -> None:
    found = timing(report)
    assert found.fmax_mhz == 84.99
    assert (found.ns, found.wire_ns) == (5.0, 3.0)


def test_a_path_is_wires_with_the_cells_behind_them_a_carry_chain_as_one(report: dict[str, Any]) -> None:
    assert timing(report).path == [
        Hop("dut.spot", "register", 0.0, 0.5, 0.5, "X6/Y36"),
        Hop("dut.spot[3]", "LUT", 2.0, 0.25, 2.75, "X6/Y36"),
        Hop("~dut.a", "carry", 1.0, 0.75, 4.5, "X6/Y36"),
        Hop("~dut.a", "setup", 0.0, 0.5, 5.0, "X6/Y36"),
    ]


@pytest.mark.parametrize(
    ("net", "name"),
    [
        ("dut.spot[3]", "dut.spot[3]"),
        ("dut.spot_TRELLIS_FF_Q_3", "dut.spot"),
        ("dut.sum_CCU2C_S0_COUT[3]", "~dut.sum"),
        ("dut.ready_LUT4_C_1_Z", "~dut.ready"),
    ],
)
def test_nets_are_named_as_in_the_rtl(net: str, name: str) -> None:
    assert rtl_name(net) == name


@pytest.mark.parametrize("clocks", [[], [CLOCK, "rx_clk"]])
def test_a_report_of_no_clock_or_of_two_is_refused(report: dict[str, Any], clocks: list[str]) -> None:
    report["fmax"] = {clock: {"achieved": 100.0, "constraint": 110} for clock in clocks}
    with pytest.raises(ReportIncomplete, match="one clock expected"):
        timing(report)


def test_a_report_without_a_path_of_the_clock_is_refused(report: dict[str, Any]) -> None:
    del report["critical_paths"][1]
    with pytest.raises(ReportIncomplete, match="no path from"):
        timing(report)


def netlist() -> dict[str, Any]:
    cells = {"dut.a": "LUT4", "dut.b": "LUT4", "dut.c": "TRELLIS_FF", "digest": "TRELLIS_FF", "dut.d": "$scopeinfo"}
    top = {"attributes": {"top": "1"}, "cells": {name: {"type": cell} for name, cell in cells.items()}}
    return {"modules": {"LUT4": {"attributes": {"blackbox": "1"}}, "FmaxFlowEngine": top}}


def test_the_size_is_the_modules_without_the_harness() -> None:
    used = size(netlist())
    assert (used["lut4"], used["ff"], used["bram"]) == (2, 1, 0)


def test_the_size_has_what_is_in_modules_that_stayed_ones() -> None:
    nested = netlist()
    nested["modules"]["Lane"] = {"attributes": {}, "cells": {"a": {"type": "DP16KD"}, "b": {"type": "LUT4"}}}
    nested["modules"]["FmaxFlowEngine"]["cells"] |= {f"dut.lane{i}": {"type": "Lane"} for i in range(8)}
    used = size(nested)
    assert (used["lut4"], used["bram"]) == (10, 8)


@pytest.fixture
def run(report: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program with tools that leave the report and a netlist; its exit status."""

    def run(module: str) -> int:
        for name, text in (("report", report), ("netlist", netlist())):
            (tmp_path / name).write_text(json.dumps(text))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(program, "ROOT", tmp_path)
        monkeypatch.setattr(program, "REPORT", tmp_path / "reports" / "fmax.json")
        monkeypatch.setattr(program, "elaborate", lambda *_: tmp_path / f"Fmax{module}.v")
        monkeypatch.setattr(program, "synthesise", lambda *_: tmp_path / "netlist")
        monkeypatch.setattr(program, "place_and_route", lambda *_: tmp_path / "report")
        monkeypatch.setattr(sys, "argv", ["fmax", module])
        return program.main()

    return run


def test_the_engine_below_its_goal_fails_and_still_prints_its_path(
    run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("FlowEngine") == 1
    said = capsys.readouterr()
    assert "84.99 MHz is below the goal of 85 MHz" in said.err
    assert "dut.spot[3]" in said.out


def test_the_engine_at_its_goal_passes(run: Any, report: dict[str, Any]) -> None:
    report["fmax"][CLOCK]["achieved"] = 85.0
    assert run("FlowEngine") == 0


def test_a_module_without_a_goal_passes(run: Any, tmp_path: Path) -> None:
    assert run("Pacer") == 0
    assert json.loads((tmp_path / "reports" / "fmax.json").read_text())["fmax_mhz"] == 84.99


def test_a_report_without_a_clock_is_an_error_not_a_traceback(
    run: Any, report: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    report["fmax"] = {}
    assert run("FlowEngine") == 1
    assert "one clock expected" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("luts", "seeds", "steps"),
    [
        (7, [1], ["route netlist"]),
        (8, [1], ["place netlist", "anneal", "route annealed"]),
        (8, [3, 2, 3], 2 * ["place netlist", "anneal", "route annealed"]),
    ],
)
def test_a_large_module_is_annealed_before_it_is_routed(
    luts: int, seeds: list[int], steps: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    def run(_name: str, _log: Path, *words: str | Path, rounds: int | None = None) -> None:
        options = [str(word) for word in words]
        design = Path(options[options.index("--json") + 1])
        assert design.exists()
        places = "--no-route" in options
        taken.append(f"{'place' if places else 'route'} {design.stem}")
        output = "--write" if places else "--report"
        Path(options[options.index(output) + 1]).write_text("{}")

    def annealed(placed: Path, *_: Any) -> tuple[Path, Path]:
        assert placed.exists()
        taken.append("anneal")
        design = placed.with_suffix(ANNEALED)
        design.touch()
        placed.with_suffix(".sdc").touch()
        return placed.with_suffix(".sdc"), design

    def route(_nextpnr: Any, _log: Path, clocks: Path, design: Path, _options: list[str], result: list[str]) -> None:
        assert clocks.exists()
        assert design.name.endswith(ANNEALED)
        taken.append("route annealed")
        Path(result[result.index("--report") + 1]).write_text("{}")

    monkeypatch.setattr(tools, "run", run)
    monkeypatch.setattr(tools, "route", route)
    monkeypatch.setattr(tools, "annealed", annealed)
    monkeypatch.setattr(tools, "version", lambda tool: tool)
    monkeypatch.setattr(tools, "LARGE", 8)
    netlist = tmp_path / "netlist.json"
    kinds = ["TRELLIS_DPR16X4", "TRELLIS_FF", *(luts - 6) * ["LUT4"]]
    top = {"attributes": {"top": "1"}, "cells": {f"{i}": {"type": kind} for i, kind in enumerate(kinds)}}
    netlist.write_text(json.dumps({"modules": {"Fmax": top}}))
    for seed in seeds:
        assert tools.place_and_route(netlist, "8", seed).exists()
    assert taken == steps


@pytest.mark.parametrize(
    "line", ["Info:     iter=3 wires=5 overused=0", "Info:       3000 |     1296       1704 |  453   547 |       795|"]
)
def test_a_router_is_ended_after_so_many_rounds(line: str, tmp_path: Path) -> None:
    log, router = tmp_path / "router.log", tmp_path / "router"
    log.write_text(9 * f"{line}\n")  # an earlier run's
    router.write_text(
        "import pathlib, time\n"
        "for rounds in range(1, 200):\n"
        f"    pathlib.Path({str(log)!r}).write_text(rounds * {line + chr(10)!r})\n"
        "    time.sleep(0.1)\n"
    )
    with pytest.raises(RoundsOver, match="had not ended after 5 rounds"):
        tools.run("router", log, sys.executable, router, rounds=5)
    assert len(log.read_text().splitlines()) < 100


@pytest.mark.parametrize(
    ("log", "where"),
    [
        ("", "reading"),
        ("2.17. Executing OPT_DFF pass (perform DFF optimizations).\n", "OPT_DFF pass"),
        ("Info: Running simulated annealing placer.\nInfo:   at iteration #5: temp = 1.9\n", "iteration #5"),
        ("Info: Running router2...\nInfo:     iter=7 wires=92838 overused=1031 tmgfail=0\n", "iter=7"),
        (
            "Info: Routing..\nInfo:       2000 |     1122        879 |  571   429 |      4922|       1.61       8.77|\n",
            "4922 connections left",
        ),
    ],
)
def test_where_a_tool_is_is_read_from_its_log(log: str, where: str) -> None:
    assert tools.headline(log) == where
