# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Outputs with very many inputs are copied; that a netlist with copies does what it did is test_cells.py's to show."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from scripts.ecp5.netlist.fan_out import EACH, EACH_CONTROL, MANY, limit_fan_out

CLOCK, WIDE, OWN, D = 2, 3, 4, 5


def cell(kind: str, **wires: int | str) -> dict[str, Any]:
    return {
        "type": kind,
        "parameters": {"kind": kind},
        "port_directions": {port: "output" if port in "QZ" else "input" for port in wires},
        "connections": {port: [net] for port, net in wires.items()},
    }


def module(kind: str, inputs: int, port: str = "CE") -> dict[str, Any]:
    """A driver of so many enables (or of another port), named as bits of a word are; a flip-flop also holds itself."""
    driver = cell("LUT4", A=D, Z=WIDE) if kind == "LUT4" else cell("TRELLIS_FF", CLK=CLOCK, DI=WIDE, CE=D, Q=WIDE)
    taking = {
        f"word_{number:05}": cell("TRELLIS_FF", CLK=CLOCK, **{port: WIDE}, Q=10 + number) for number in range(inputs)
    }
    before = {"before": cell("TRELLIS_FF", CLK=CLOCK, Q=D)}
    return {"ports": {}, "cells": {"driver": driver, **before, **taking}}


@pytest.mark.parametrize("kind", ["LUT4", "TRELLIS_FF"])
@pytest.mark.parametrize(("port", "each"), [("CE", EACH_CONTROL), ("DI", EACH)])
def test_each_copy_has_the_same_inputs_and_drives_neighbours(kind: str, port: str, each: int) -> None:
    top = module(kind, 2 * each + 30, port)
    assert limit_fan_out(top) == 2
    cells = top["cells"]
    output = {"LUT4": "Z", "TRELLIS_FF": "Q"}[kind]
    drivers = [cells[name] for name in ("driver", "driver_copy_1", "driver_copy_2")]
    for copy in drivers[1:]:
        assert copy["parameters"] == drivers[0]["parameters"]
        same = {port: net for port, net in drivers[0]["connections"].items() if port != output}
        assert {port: net for port, net in copy["connections"].items() if port != output} == same
    taken = [cells[f"word_{number:05}"]["connections"][port][0] for number in range(2 * each + 30)]
    assert taken == sorted(taken, key=[driver["connections"][output][0] for driver in drivers].index)
    assert sorted(Counter(taken).values()) == [30, each, each]


def test_an_output_of_fewer_inputs_stays_as_it_is() -> None:
    top = module("LUT4", MANY)
    assert limit_fan_out(top) == 0
    assert len(top["cells"]) == MANY + 2


def test_clocks_and_pins_are_not_copied() -> None:
    """Nothing in the module drives a clock that comes from a pin; a port of the module stays on the first copy."""
    top = module("TRELLIS_FF", MANY + 1)
    top["ports"] = {"out": {"direction": "output", "bits": [WIDE]}}
    limit_fan_out(top)
    assert top["cells"]["driver"]["connections"]["Q"] == [WIDE]
    assert {cell["connections"].get("CLK", [CLOCK])[0] for cell in top["cells"].values()} == {CLOCK}


def test_copies_of_luts_count_as_inputs_of_what_is_before_them() -> None:
    top = module("LUT4", MANY * EACH_CONTROL)
    limit_fan_out(top)
    luts = [name for name in top["cells"] if name.startswith("driver")]
    assert len(luts) == MANY
    assert not any(name.startswith("before_copy") for name in top["cells"])
    top = module("LUT4", (MANY + 1) * EACH_CONTROL)
    limit_fan_out(top)
    assert any(name.startswith("before_copy") for name in top["cells"])


def test_a_module_without_cells_stays_as_it_is() -> None:
    """Yosys writes primitives so."""
    assert limit_fan_out({"ports": {}, "cells": {}}) == 0
