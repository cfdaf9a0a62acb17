# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sums and comparisons are what they were without the cells that nextpnr would add; Yosys proves it, by its own
CCU2C."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.ecp5.netlist.carries import name_carries, shorten_carry_chains
from scripts.lint.tools import ROOT, passes

OPERATIONS = (
    "{a} + {b}",
    "{a} - {b}",
    "choice ? {a} + {b} : {a} - {b}",
    "{a} + 1",
    "{a} - 1",
    "-{a}",
    "{a} < {b}",
    "{a} >= {b}",
    "$signed({a}) < $signed({b})",
    "{a} > {width}'d77",
)


def netlist(place: Path, width: int) -> Path:
    """By Yosys, as JSON."""
    (ROOT / place).mkdir(parents=True, exist_ok=True)
    verilog, mapped = place / "top.v", place / "top.json"
    bits = f"[{width - 1}:0]"  # each has inputs of its own: Yosys would share a subtraction with a comparison
    ports = [f"input {bits} a{n}, b{n}, output [{width}:0] y{n}" for n in range(len(OPERATIONS))]
    results = [text.format(a=f"a{n}", b=f"b{n}", width=width) for n, text in enumerate(OPERATIONS)]
    assigns = [f"  assign y{n} = {result};\n" for n, result in enumerate(results)]
    (ROOT / verilog).write_text(f"module top(input choice, {', '.join(ports)});\n{''.join(assigns)}endmodule\n")
    passes("yosys", "-q", "-p", f"read_verilog {verilog}; synth_ecp5 -top top -json {mapped}")
    return mapped


def chained(module: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in module["cells"].values() if cell["type"] == "CCU2C"]


@pytest.mark.parametrize("width", [7, 8])
def test_results_are_the_same_whatever_an_open_carry_is(width: int) -> None:
    place = Path("build", "carries", str(width))
    mapped = netlist(place, width)
    top = json.loads((ROOT / mapped).read_text())["modules"]["top"]
    begins = [cell for cell in chained(top) if cell["connections"]["CIN"][0] in ("0", "1")]
    (ROOT / place / "before.json").write_text(json.dumps({"modules": {"before": top}}))
    assert len(begins) >= len(OPERATIONS)
    assert shorten_carry_chains(top) >= len(begins)
    assert all(cell["connections"]["CIN"] == ["x"] for cell in begins)
    name_carries(top)
    (ROOT / place / "after.json").write_text(json.dumps({"modules": {"after": top}}))
    # An x is any value.
    read = "; ".join(
        f"read_json {place}/{name}.json; read_verilog -overwrite +/ecp5/cells_sim.v; hierarchy -top {name}; "
        f"proc =*; flatten -wb; setundef -undriven -anyconst; opt_clean; design -stash {name}"
        for name in ("before", "after")
    )
    copies = "; ".join(f"design -copy-from {name} -as {name} {name}" for name in ("before", "after"))
    passes(
        "yosys",
        "-q",
        "-p",
        f"{read}; {copies}; miter -equiv -flatten -make_outputs before after miter; "
        "hierarchy -top miter; sat -verify -prove trigger 0 -set-def-inputs miter",
    )


def test_a_carry_that_is_taken_keeps_its_name() -> None:
    def ccu2c(**wires: Any) -> dict[str, Any]:
        ports = {"A0": [2], "B0": [3], "C0": ["0"], "D0": ["1"], "CIN": ["0"], "S0": [10], "COUT": [11]} | wires
        return {
            "type": "CCU2C",
            "parameters": {"INIT0": "1001011010101010", "INJECT1_0": "NO"},
            "port_directions": {port: "output" if port in ("S0", "COUT") else "input" for port in ports},
            "connections": ports,
        }

    cells = {"first": ccu2c(), "second": ccu2c(CIN=[11], S0=[12], COUT=[13])}
    top: dict[str, Any] = {"ports": {"y": {"direction": "output", "bits": [12]}}, "cells": cells}
    assert shorten_carry_chains(top) == 2  # the first's CIN, the second's COUT
    assert (cells["first"]["connections"]["COUT"], cells["second"]["connections"]["COUT"]) == ([11], ["x"])
    assert cells["second"]["parameters"]["INIT0"] == "1001011010101010"
    assert set(cells) == {"first", "second"}, "nobody takes the first sum"
