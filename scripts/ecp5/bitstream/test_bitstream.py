# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make bitstream`: what it refuses in a line each, and that a missed clock leaves no .bit; on texts as nextpnr writes
them."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import scripts.ecp5.bitstream.__main__ as program
from scripts.ecp5.bitstream import flow
from scripts.ecp5.bitstream.board import load, names
from scripts.ecp5.fmax import tools
from scripts.ecp5.fmax.tools import ToolFailed
from scripts.synth.sources import policies

LOG = """\
Info: Device utilisation:
Info: 	          TRELLIS_IO:    31/  245    12%
Info: 	              DP16KD:    28/  108    25%
Info: 	          MULT18X18D:     0/   72     0%
Info: 	          TRELLIS_FF:  {ff}/43848   {share}%
Info: 	        TRELLIS_COMB:  7111/43848    16%
"""
LAYOUT = {
    "numbers": {"flows": 16},
    "policies": {"StartupPolicy": {"standard": 0, "rapid": 11}, "SteadyPolicy": {"reno": 0}},
}
WIRE, CORE = "$glbnet$rgmii_0_rx_clk$TRELLIS_IO_IN", "$glbnet$inside_1.CLKOS"


def report(wire_mhz: float) -> dict[str, Any]:
    clocks = {WIRE: {"achieved": wire_mhz, "constraint": 125.0}, CORE: {"achieved": 70.0, "constraint": 62.5}}
    return {"fmax": clocks, "critical_paths": []}


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program with tools that leave a log and a report; its exit status and the .bit's path."""

    def build(
        *arguments: str, wire_mhz: float | dict[int, float] = 130.0, ff: int = 5648, fails: bool = False
    ) -> tuple[int, Path]:
        place, bit = tmp_path / "build", tmp_path / "build" / "colorlight-i9.bit"
        place.mkdir(exist_ok=True)
        (place / "downbeat_layout.json").write_text(json.dumps(LAYOUT))
        top = {"attributes": {"top": "1"}, "cells": {"spot": {"type": "LUT4"}, "sum": {"type": "CCU2C"}}}
        (place / "netlist.json").write_text(json.dumps({"modules": {"top": top}}))
        placement = flow.Placed(*(place / f"placed.{suffix}" for suffix in ("config", "json", "log", "unrouted.json")))

        def placed(_board: Any, _netlist: Any, seed: int) -> flow.Placed:
            placement.log.write_text(LOG.format(ff=ff, share=100 * ff // 43848))
            if fails:
                raise ToolFailed("nextpnr failed")
            reached = wire_mhz[seed] if isinstance(wire_mhz, dict) else wire_mhz
            placement.report.write_text(json.dumps(report(reached)))
            return placement

        for module in (program, flow):
            monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(flow, "require", lambda tool: tool)
        monkeypatch.setattr(flow, "home", lambda _: place)
        monkeypatch.setattr(flow, "elaborate", lambda _: place / "top.v")
        monkeypatch.setattr(flow, "synthesise", lambda *_: place / "netlist.json")
        monkeypatch.setattr(flow, "place_and_route", placed)
        monkeypatch.setattr(flow, "placement", lambda *_: placement)
        monkeypatch.setattr(flow, "pack", lambda _, bit: bit.write_bytes(b"bits"))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["bitstream", *(arguments or ("colorlight-i9",))])
        return program.main(), bit

    return build


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_a_build_whose_clocks_are_met_leaves_a_bit_and_its_record(build: Any, tmp_path: Path) -> None:
    status, bit = build()
    assert status == 0
    assert bit.read_bytes() == b"bits"
    record = json.loads((tmp_path / "build" / "reports" / "bitstream-colorlight-i9.json").read_text())
    assert {clock["name"]: clock["missed"] for clock in record["clocks"]} == {
        "rgmii_0_rx_clk": False,
        "inside_1.CLKOS": False,
    }


def test_the_record_has_policies_flows_area_and_clocks(build: Any, tmp_path: Path) -> None:
    def record(name: str) -> dict[str, Any]:
        text = (tmp_path / "build" / "reports" / f"bitstream-{name}.json").read_text()
        return json.loads(text)  # type: ignore[no-any-return]

    assert build("ecpix5-tcp", "--policies", "standard,rapid;reno", "--flows", "16")[0] == 0
    found = record("ecpix5-tcp")
    assert found["preset"] == "board,policies=standard,rapid;reno,flows=16"
    assert found["policies"] == {"startup": ["standard", "rapid"], "steady": ["reno"]}
    assert (found["flows"], found["area"]) == (16, {"lut": 3, "ff": 0, "bram": 0, "dsp": 0})
    assert [(clock["wanted_mhz"], clock["reached_mhz"]) for clock in found["clocks"]] == [(62.5, 70.0), (125.0, 130.0)]
    build("colorlight-i9")
    assert record("colorlight-i9")["policies"] is record("colorlight-i9")["flows"] is None, "there is no core in it"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ecpix5-tcp", "--policies", f"{','.join(policies('startup'))};reno"), "% does not route: leave out "),
        (("colorlight-i9", "--flows", "16"), "FLOWS: colorlight-i9 has no core in it"),
    ],
)
def test_a_core_that_cannot_be_is_refused_before_it_is_built(
    build: Any, arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, bit = build(*arguments)
    (said,) = lines(capsys.readouterr().err)
    assert (status, bit.exists()) == (1, False) and says in said


def test_seeds_are_tried_in_the_boards_order_until_the_clocks_are_met(build: Any, tmp_path: Path) -> None:
    record = tmp_path / "build" / "reports" / "bitstream-colorlight-i9.json"
    first, second, *others = load("colorlight-i9").seeds
    status, bit = build(wire_mhz={first: 124.0, second: 126.0} | dict.fromkeys(others, 150.0))
    assert (status, bit.exists()) == (0, True)
    assert json.loads(record.read_text())["seed"] == second


def test_a_seed_that_is_given_is_the_only_one(build: Any, tmp_path: Path) -> None:
    record = tmp_path / "build" / "reports" / "bitstream-colorlight-i9.json"
    status, bit = build("colorlight-i9", "--seed", "7", wire_mhz={7: 124.0})
    assert (status, bit.exists()) == (1, False)
    assert json.loads(record.read_text())["seed"] == 7


def test_the_build_says_what_is_in_it(build: Any, capsys: pytest.CaptureFixture[str]) -> None:
    build()
    assert lines(capsys.readouterr().out)[0].startswith("colorlight-i9 (LFE5U-45F-6BG381C): gap bench")


def test_a_missed_clock_is_reported_and_takes_an_earlier_bit_away(
    build: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    build()
    status, bit = build("colorlight-i9", "--seed", "2", wire_mhz=124.99)
    assert status == 1
    assert not bit.exists()
    assert lines(capsys.readouterr().err) == ["rgmii_0_rx_clk reaches 124.99 MHz, not 125: no bitstream by seed 2"]


def test_a_design_that_does_not_fit_is_reported_in_one_line(build: Any, capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = build(ff=71225, fails=True)
    assert status == 1
    said = lines(capsys.readouterr().err)
    assert said == ["the design does not fit LFE5U-45F-6BG381C: 71,225 of 43,848 flip-flops"]


def test_another_failure_of_nextpnr_is_not_taken_for_that(build: Any, capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = build(fails=True)
    assert status == 1
    assert lines(capsys.readouterr().err) == ["nextpnr failed"]


def test_an_unknown_board_is_refused_with_a_list(build: Any, capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = build("tango")
    assert status == 1
    said = lines(capsys.readouterr().err)
    assert said == [f"no board 'tango'; there are: {', '.join(names())} (make bitstream BOARD=name)"]


def test_a_missing_tool_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    tools.version.cache_clear()  # other tests may have called it
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(sys, "argv", ["bitstream", "colorlight-i9"])
    assert program.main() == 1
    said = lines(capsys.readouterr().err)
    assert len(said) == 1
    assert said[0].startswith("yosys is missing: `make setup` installs one")


def test_program_without_openfpgaloader_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(flow, "home", lambda _: tmp_path)
    (tmp_path / "colorlight-i9.bit").write_bytes(b"bits")
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(sys, "argv", ["bitstream", "colorlight-i9", "--program"])
    assert program.main() == 1
    said = lines(capsys.readouterr().err)
    assert len(said) == 1
    assert said[0].startswith("openFPGALoader is missing")


def test_program_before_a_build_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(flow, "home", lambda _: tmp_path)
    monkeypatch.setattr(sys, "argv", ["bitstream", "colorlight-i9", "--program"])
    assert program.main() == 1
    assert "make bitstream BOARD=colorlight-i9" in capsys.readouterr().err


@pytest.mark.parametrize("name", names())
def test_every_pin_of_a_board_has_one_function_and_one_site(name: str) -> None:
    board = load(name)
    ports = [port for function in board.functions for port in function.sites]
    sites = [site for function in board.functions for site in function.sites.values()]
    assert len(set(ports)) == len(ports)
    assert len(set(sites)) == len(sites)
    assert set(board.clocks) <= set(ports)
    text = board.constraints()
    assert all(f'LOCATE COMP "{port}"' in text and f'IOBUF PORT "{port}" IO_TYPE=' in text for port in ports)


def test_a_build_may_have_another_boards_pins() -> None:
    plain, tcp = load("ecpix5"), load("ecpix5-tcp")
    assert (tcp.device, tcp.clocks, tcp.functions) == (plain.device, plain.clocks, plain.functions)
    assert (plain.top, tcp.top) == ("Board_ecpix5_probes", "Board_ecpix5_traffic")
    assert tcp.what != plain.what


def test_a_board_may_be_annealed_between_placing_and_routing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nextpnr places, and routes what that has become; a second time only what is missing."""
    board = replace(load("ecpix5"), annealed=True)
    calls: list[Any] = []

    def run(_name: str, log: Path, *words: str | Path, rounds: int | None = None) -> None:
        options = [str(word) for word in words]
        calls.append(options)
        assert rounds is None
        log.touch()
        Path(options[options.index("--write") + 1]).write_text("{}")

    def annealed(*arguments: Any) -> tuple[Path, Path]:
        calls.append(arguments)
        return tmp_path / "clocks.sdc", tmp_path / "annealed.json"

    def route(_nextpnr: Any, log: Path, clocks: Path, design: Path, options: list[str], result: list[str]) -> None:
        calls.append([str(word) for word in (clocks, design, *options, *result)])
        Path(result[result.index("--report") + 1]).write_text(json.dumps(report(130.0)))

    monkeypatch.setattr(flow, "home", lambda _: tmp_path)
    monkeypatch.setattr(flow, "run", run)
    monkeypatch.setattr(flow, "version", lambda tool: tool)
    monkeypatch.setattr(flow, "annealed", annealed)
    monkeypatch.setattr(flow, "route", route)
    placed = flow.place_and_route(board, tmp_path / "netlist.json", 7)
    placing, annealing, routing = calls
    assert {"--no-route", "--no-tmdriv", "--lpf", str(tmp_path / "netlist.json")} <= set(placing)
    assert annealing[:2] == (placed.unrouted, placed.log)
    assert {str(tmp_path / "clocks.sdc"), str(tmp_path / "annealed.json"), "--textcfg", "--speed"} <= set(routing)
    assert not {"--no-route", "--no-tmdriv", "--lpf", str(tmp_path / "netlist.json")} & set(routing)
    assert (
        flow.placement(board, tmp_path / "netlist.json", 7)
        == placed
        != flow.placement(load("ecpix5"), tmp_path / "netlist.json", 7)
    )
    placed.report.unlink()
    calls.clear()
    flow.place_and_route(board, tmp_path / "netlist.json", 7)
    assert [isinstance(call, list) for call in calls] == [False, True]
