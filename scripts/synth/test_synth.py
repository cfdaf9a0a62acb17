# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make synth` with tools that leave netlists and Verilog as the test says: what is counted, and what is refused in a
line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import scripts.synth.__main__ as program
from scripts.ecp5.fmax import tools
from scripts.ecp5.fmax.report import cells
from scripts.ecp5.fmax.tools import ROOT
from scripts.synth.levels import lut_levels
from scripts.synth.state import bits_per_flow, memories
from scripts.synth.targets import TARGETS


def verilog(flows: int) -> str:
    """Two instances of a module with a word of 40 bits and two flags for each flow, a FIFO, a delay line, and a
    tree."""
    index = (flows - 1).bit_length()
    levels = "".join(f"  reg [31:0] level_{depth} [0:{2**depth - 1}];\n" for depth in range(index))
    return (
        "module FmaxTop (\n  input wire clk\n);\n"
        "  Module part (\n    .clk(clk)\n  );\n  Module part_1 (\n    .clk(clk)\n  );\nendmodule\n"
        f"module Module (\n  input wire clk\n);\n  (* no_rw_check *) reg [39:0] state [0:{flows - 1}];\n"
        f"  reg [1:0] flags [0:{flows - 1}];\n  reg [{index + 8}:0] fifo [0:15];\n"
        f'  (* ram_style = "distributed" *) reg [6:0] _zz_12 [0:{flows - 1}];\n{levels}endmodule\n'
    )


def test_state_is_what_grows_with_the_flows_in_every_instance() -> None:
    of, twice = memories(verilog(16), "FmaxTop"), memories(verilog(32), "FmaxTop")
    assert of["part_1.state"] == (40, 16)
    level = 32  # sixteen new words of the tree for sixteen new flows
    assert bits_per_flow(of, twice, 16) == 2 * (40 + 2 + level)


def test_an_index_that_grows_by_a_bit_is_not_counted_for_all_flows() -> None:
    assert bits_per_flow({"table": (10, 16)}, {"table": (11, 32)}, 16) == 10


def test_a_netlist_counts_by_what_its_cells_take_of_the_device() -> None:
    used = TARGETS["ecp5"].used({"LUT4": 10, "CCU2C": 3, "TRELLIS_DPR16X4": 2, "DP16KD": 1, "PFUMX": 7})
    assert used == {"lut": 10 + 3 * 2 + 2 * 6, "ff": 0, "bram": 1, "dsp": 0}
    used = TARGETS["xcup"].used(
        {"LUT6": 4, "LUT2": 1, "RAM32M16": 1, "RAMB36E2": 2, "RAMB18E2": 1, "FDRE": 9, "CARRY8": 5}
    )
    assert used == {"lut": 4 + 1 + 8, "ff": 9, "bram": 5, "dsp": 0}


def test_every_module_is_one() -> None:
    modules = re.findall(r'^ *"(\w+)" -> ', (ROOT / "rtl/downbeat/builds/Modules.scala").read_text(), re.MULTILINE)
    assert set(program.MODULES) <= set(modules)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program's exit status and report, with modules of so many cells; `clocks` are the modules that have been
    routed."""

    def run(*arguments: str, clocks: dict[str, float] | None = None, **cells: int) -> tuple[int, dict[str, Any]]:
        def elaborate(module: str, build: str) -> Path:
            flows = int(build.partition("flows=")[2] or 16)
            place = tmp_path / "build/fmax/rtl" / build
            place.mkdir(parents=True, exist_ok=True)
            (place / "downbeat_layout.json").write_text(json.dumps({"numbers": {"flows": flows}}))
            file = place / f"Fmax{module}.v"
            file.write_text(verilog(flows).replace("FmaxTop", f"Fmax{module}"))
            return file

        def synthesise(file: Path, _: str) -> Path:
            empty: dict[str, Any] = {"connections": {}, "port_directions": {}}
            inside = {
                f"dut.{kind}{number}": {"type": kind, **empty}
                for kind, count in cells.items()
                for number in range(count)
            }
            top = {"attributes": {"top": "1"}, "cells": inside}
            netlist = file.with_suffix(".json")
            netlist.write_text(json.dumps({"modules": {file.stem: top}}))
            return netlist

        def routed(netlist: Path, *_: int) -> Path | None:
            clock = (clocks or {}).get(netlist.stem.removeprefix("Fmax"))
            if clock is None:
                return None
            path = [{"type": "setup", "delay": 1.0, "from": {"cell": "a"}, "to": {"loc": [1, 2], "port": "DI"}}]
            ends = {"from": "posedge clk", "to": "posedge clk", "path": path}
            report = netlist.with_suffix(".report")
            report.write_text(json.dumps({"critical_paths": [ends], "fmax": {"clk": {"achieved": clock}}}))
            return report

        for name, stand_in in (("elaborate", elaborate), ("synthesise", synthesise), ("routed", routed)):
            monkeypatch.setattr(program, name, stand_in)
        monkeypatch.setattr(program, "require", lambda tool: tool)
        monkeypatch.setattr(program, "ROOT", tmp_path)
        monkeypatch.setattr(program, "REPORT", tmp_path / "build" / "reports" / "synth.json")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["synth", *arguments])
        status = program.main()
        return status, json.loads(program.REPORT.read_text())

    return run


def test_the_report_has_each_module_and_the_slowest_that_was_routed(run: Any) -> None:
    status, report = run("Pacer", "Timers", "Notifier", clocks={"Pacer": 119.0, "Timers": 108.2}, LUT4=5, TRELLIS_FF=3)
    assert status == 0
    assert (report["target"], report["flows"], report["preset"]) == ("ecp5", 16, "default")
    assert [module["name"] for module in report["rooms"]] == ["Pacer", "Timers", "Notifier"]
    assert [(module["lut"], module["ff"], module["bram"], module["dsp"]) for module in report["rooms"]] == [
        (5, 3, 0, 0)
    ] * 3
    assert [module["lut_levels"] for module in report["rooms"]] == [1] * 3
    assert (report["fmax_mhz"], report["fmax_room"], report["critical_path"]) == (108.2, "Timers", ["a"])
    assert report["state_bits_per_flow"] == 3 * 2 * 74


def test_no_clock_rate_is_made_up(run: Any) -> None:
    _, report = run("Pacer", LUT4=5)
    assert report["fmax_mhz"] is None and report["critical_path"] is None


def test_flows_make_another_build(run: Any) -> None:
    assert run("Pacer", "--flows", "64", "--target", "xcup", LUT6=1)[1]["flows"] == 64


def test_a_design_that_does_not_fit_is_reported_in_one_line(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = run("Pacer", "Timers", DP16KD=105)
    assert status == 1
    said = capsys.readouterr().err.splitlines()
    assert said == ["the design does not fit LFE5U-85F: 210 of 208 block RAMs of 18 Kbit"]


def test_a_missing_tool_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(sys, "argv", ["synth"])
    tools.version.cache_clear()
    assert program.main() == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("yosys is missing: `make setup` installs one")


def test_a_target_that_is_none_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["synth", "--target", "gowin"])
    assert program.main() == 1
    said = capsys.readouterr().err.splitlines()
    assert said == ["no target 'gowin'; there are: ecp5, xcup (make synth TARGET=name)"]


SMALL = """module FmaxSmall (input wire clk, input wire [3:0] a, input wire [3:0] b, output reg [3:0] y);
  always @(posedge clk) y <= (a ^ b) & {4{a[0]}};
endmodule
"""


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_real_netlist_of_each_target_is_counted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Yosys itself: each family's cells pass through what this flow does with a netlist."""
    monkeypatch.setattr(tools, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FmaxSmall.v").write_text(SMALL)
    netlist = tools.synthesise(Path("FmaxSmall.v"), TARGETS[name].commands)
    used = TARGETS[name].used(cells(json.loads((tmp_path / netlist).read_text()), within=""))
    assert used == {"lut": 4, "ff": 4, "bram": 0, "dsp": 0}


def test_a_build_that_is_refused_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> Path:
        raise subprocess.CalledProcessError(2, "scripts/rtl.sh")

    monkeypatch.setattr(program, "require", lambda tool: tool)
    monkeypatch.setattr(program, "elaborate", refuses)
    monkeypatch.setattr(sys, "argv", ["synth", "--preset", "no such preset"])
    assert program.main() == 1


def test_the_longest_path_counts_luts_between_registers_alone() -> None:
    def cell(kind: str, inputs: list[Any], output: int) -> dict[str, Any]:
        directions = {"O": "output"} | {f"I{place}": "input" for place in range(len(inputs))}
        connections = {"O": [output]} | {f"I{place}": [bit] for place, bit in enumerate(inputs)}
        return {"type": kind, "port_directions": directions, "connections": connections}

    chain = {
        "a": cell("LUT2", [1, "0"], 2),
        "b": cell("LUT6", [2, 1], 3),
        "c": cell("CARRY8", [3], 4),
        "d": cell("MUXF7", [4, 2], 5),
        "e": cell("LUT3", [5], 6),
        "f": cell("FDRE", [6], 7),
        "g": cell("LUT1", [7], 8),
    }
    assert lut_levels({"modules": {"Top": {"cells": chain}, "Box": {}}}) == 3


def test_what_writes_lut_ram_is_no_part_of_a_path_through_it() -> None:
    def cell(kind: str, inputs: dict[str, int], outputs: dict[str, int]) -> dict[str, Any]:
        directions = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
        return {
            "type": kind,
            "port_directions": directions,
            "connections": {p: [b] for p, b in (inputs | outputs).items()},
        }

    written = {"a": cell("LUT2", {"I0": 1}, {"O": 2}), "b": cell("RAM32M16", {"WE": 2, "ADDRA": 3}, {"DOA": 4})}
    read = {"a": cell("LUT2", {"I0": 1}, {"O": 2}), "b": cell("RAM32M16", {"WE": 3, "ADDRA": 2}, {"DOA": 4})}
    assert [lut_levels({"modules": {"Top": {"cells": cells}}}) for cells in (written, read)] == [1, 2]
