# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The Vivado scripts without Vivado: they are Tcl, and every port, cell and pin that they name is
there.

A tclsh runs them with commands of Vivado's that do nothing but look for what they are given (stubs.tcl).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from scripts.lint.tools import VERILOG
from scripts.synth.state import INSTANCE, MODULE

HERE = Path(__file__).parent
CONSTRAINTS = HERE.parents[1] / "constraints"
PORT = re.compile(r"^  (?:input|output) +(?:wire|reg) +(?:\[(\d+):0\] +)?(\w+)", re.MULTILINE)
REGISTER = re.compile(r"^ *(?:\(\*.*?\*\) )?reg +(?:\[(\d+):0\] +)?(\w+);", re.MULTILINE)
BLACK_BOXES = {"RestingClock"}


def verilog(module: str) -> str:
    return (VERILOG / f"{module}.v").read_text()


def ports(module: str) -> dict[str, str]:
    """The highest index of the top's port; None for a single bit."""
    top = next(found[0] for found in MODULE.finditer(verilog(module)) if found[1] == module)
    return {name: high for high, name in PORT.findall(top)}


def cells(module: str) -> list[str]:
    """Registers as Vivado names them after synthesis: a/b/name_reg, and name_reg[0] of a vector."""
    modules = {found[1]: found[0] for found in MODULE.finditer(verilog(module))}
    inside = {name: INSTANCE.findall(text) for name, text in modules.items()}
    registers = {name: REGISTER.findall(text) for name, text in modules.items()}
    found: list[str] = []

    def walk(module: str, place: str) -> None:
        found.extend(f"{place}{name}_reg{'[0]' if high else ''}" for high, name in registers[module])
        for inner, name in inside[module]:
            if inner in modules and inner not in BLACK_BOXES:
                walk(inner, f"{place}{name}/")

    walk(module, "")
    return found


def crossings(module: str) -> dict[str, str]:
    """Registers, or the output registers of memories, that cross; and where from."""
    rows = re.findall(r"\| `(\S+)` \| (.+?) \|", (VERILOG / f"{module}.crossings").read_text())
    return {re.sub(r"/(ram|ring)$", r"/\1_spinal_port1", name.replace(".", "/")): origin for name, origin in rows}


def tcl(place: Path, script: Path, names: dict[str, str], *arguments: str) -> list[str]:
    """Constraints and connections of the script, recorded by stubs.tcl."""
    if shutil.which("tclsh") is None:
        pytest.skip("tclsh is not installed")
    file = place / "names"
    file.write_text("".join(f"{key} {{{value}}}\n" for key, value in names.items()))
    command = ["tclsh", str(HERE / "stubs.tcl"), str(file), str(script), *arguments]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode:
        pytest.fail(done.stderr, pytrace=False)
    return done.stdout.splitlines()


def as_dictionary(module: str) -> str:
    return " ".join(f"{name} {{{high}}}" for name, high in ports(module).items())


def package(place: Path, module: str, script: Path = HERE / "package.tcl") -> set[str]:
    said = tcl(place, script, {"ports": as_dictionary(module)}, module, f"{module}.v", "ip", "part")
    return {line.removeprefix("map ") for line in said if line.startswith("map ")}


@pytest.mark.parametrize("module", ["DownbeatAxi", "DownbeatGmii", "DownbeatHost", "DownbeatXgmii"])
def test_every_port_is_in_an_interface_or_named_as_plain(module: str, tmp_path: Path) -> None:
    mapped = package(tmp_path, module)
    assert {"clk", "reset", "s_axil_awaddr", "s_axis_command_tdata", "m_axis_rx_tdest"} <= mapped
    (plain,) = re.findall(r"variable plain \{(.*?)\}", (HERE / "interfaces.tcl").read_text(), re.DOTALL)
    others = [
        port
        for port in ports(module)
        if port not in mapped and not any(fnmatchcase(port, name) for name in plain.split())
    ]
    assert not others, f"ports of {module} that Vivado would not know: {', '.join(others)}"


@pytest.mark.parametrize("module", ["DownbeatAxi", "DownbeatGmii", "DownbeatHost", "DownbeatXgmii"])
def test_streams_carry_whole_bytes(module: str) -> None:
    """Vivado, as the protocol, wants TDATA in bytes (ARM IHI 0051B 2.1)."""
    wrong = {name: high for name, high in ports(module).items() if name.endswith("_tdata") and (int(high) + 1) % 8}
    assert not wrong


def test_every_plain_port_is_one() -> None:
    (plain,) = re.findall(r"variable plain \{(.*?)\}", (HERE / "interfaces.tcl").read_text(), re.DOTALL)
    there = {*ports("DownbeatAxi"), *ports("DownbeatGmii"), *ports("DownbeatHost"), *ports("DownbeatXgmii")}
    assert not [name for name in plain.split() if not any(fnmatchcase(port, name) for port in there)]


def constrained(
    place: Path, script: Path = CONSTRAINTS / "common" / "crossings.xdc", top: str = "DownbeatGmii"
) -> tuple[set[str], set[str]]:
    """Cells with a bound, and objects that are set free."""
    inside = cells(top)
    resets = " ".join(f"{name}/PRE" for name in inside if "asyncAssertSyncDeassert_buffercc" in name)
    names = {
        "ports": as_dictionary(top),
        "cells": " ".join(f"{{{name}}}" for name in inside),
        "pins": resets,
    }
    said = tcl(place, script, names)
    kinds = {kind: {line.partition(" ")[2] for line in said if line.startswith(kind)} for kind in ("bound", "free")}
    return kinds["bound"], kinds["free"]


@pytest.mark.parametrize("top", ["DownbeatGmii", "DownbeatXgmii"])
def test_every_crossing_has_a_bound_and_nothing_else_has(top: str, tmp_path: Path) -> None:
    bound, free = constrained(tmp_path, top=top)
    bare = {re.sub(r"_reg(\[0\])?$", "", name) for name in bound}
    crossing = crossings(top)
    assert bare == crossing.keys()
    resets = {name for name, origin in crossing.items() if origin == "reset"}
    assert resets <= {re.sub(r"_reg/PRE$", "", name) for name in free}


def test_a_pattern_that_matches_nothing_is_found(tmp_path: Path) -> None:
    stale = tmp_path / "stale.xdc"
    stale.write_text(
        (CONSTRAINTS / "common" / "crossings.xdc").read_text().replace("popArea_stream_rData", "popArea_gone")
    )
    with pytest.raises(pytest.fail.Exception, match="no cells match"):
        constrained(tmp_path, stale)


def test_a_port_that_is_gone_is_found(tmp_path: Path) -> None:
    broken = tmp_path / "package.tcl"
    broken.write_text((HERE / "package.tcl").read_text().replace("add_parameter clk ", "add_parameter clock "))
    (tmp_path / "interfaces.tcl").write_text((HERE / "interfaces.tcl").read_text())
    with pytest.raises(pytest.fail.Exception, match="clock was not made"):
        package(tmp_path, "DownbeatAxi", broken)


def test_the_board_connects_ports_that_the_core_has_and_pins_once(tmp_path: Path) -> None:
    names = {"ports": as_dictionary("DownbeatGmii")}
    nets = [
        line for line in tcl(tmp_path, HERE / "kc705.tcl", names, "ip", "kc705", "build") if line.startswith("net ")
    ]
    for port in ("clk", "reset", "gmii_gtx_clk", "gmii_rx_clk", "gmii_rxd", "gmii_txd", "s_axil", "link_up"):
        assert any(f"core/{port}" in line.split() for line in nets), port
    board = (
        "sysclk_clk_p sysclk_clk_n cpu_reset phy_rx_clk phy_rx_dv phy_rx_er phy_gtx_clk phy_tx_en phy_tx_er phy_reset_n"
    )
    buses = [f"phy_{way}[{bit}]" for way in ("rxd", "txd") for bit in range(8)]
    table = {"ports": " ".join(f"{{{name}}} {{}}" for name in [*board.split(), *buses])}
    said = tcl(tmp_path, CONSTRAINTS / "kc705" / "kc705.xdc", table)
    pins = [line.split()[1] for line in said if line.startswith("pin ")]
    assert len(pins) == len(set(pins)) == len(board.split()) + len(buses)
    assert "clock phy_rx_clk" in said
