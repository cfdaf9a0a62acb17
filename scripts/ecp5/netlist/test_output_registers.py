# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which registers behind a block RAM become its own; that they then do what they did is test_cells.py's to show."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.ecp5.netlist.output_registers import use_output_registers

CLOCK, OTHER_CLOCK, ENABLE, RESET = 2, 3, 4, 5
WORD, REGISTERED = (10, 11), (20, 21)


def register(bit: int, **changes: Any) -> dict[str, Any]:
    wires = {"CLK": [CLOCK], "CE": [ENABLE], "LSR": ["0"], "DI": [WORD[bit]], "Q": [REGISTERED[bit]]}
    wires |= {port: net for port, net in changes.items() if port in wires}
    settings = {"CEMUX": "CE", "CLKMUX": "CLK", "REGSET": "RESET"}
    return {
        "type": "TRELLIS_FF",
        "parameters": settings | {name: value for name, value in changes.items() if name in settings},
        "port_directions": {port: "output" if port == "Q" else "input" for port in wires},
        "connections": wires,
    }


def memory(width: int = 18, **changes: Any) -> dict[str, Any]:
    outputs = (
        {"DOA0": [9], "DOB0": [WORD[0]], "DOB1": [WORD[1]]} if width == 18 else {"DOA0": [WORD[0]], "DOB0": [WORD[1]]}
    )
    wires = {f"{name}{side}": [net] for side in "AB" for name, net in (("CLK", CLOCK), ("RST", "0"), ("OCE", "1"))}
    wires |= outputs | changes
    settings = {f"CLK{side}MUX": f"CLK{side}" for side in "AB"} | {f"REGMODE_{side}": "NOREG" for side in "AB"}
    return {
        "type": "DP16KD",
        "parameters": settings | {"DATA_WIDTH_B": f"{width:032b}"},
        "port_directions": {port: "output" if port.startswith("DO") else "input" for port in wires},
        "connections": wires,
    }


def changed(ports: dict[str, Any] | None = None, **cells: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """How many registers went, and the cells afterwards."""
    top = {"ports": ports or {}, "cells": cells}
    return use_output_registers(top), top["cells"]


def test_registers_that_alone_take_a_word_become_the_memorys() -> None:
    gone, cells = changed(ram=memory(), low=register(0), high=register(1))
    assert gone == 2 and set(cells) == {"ram"}
    wires, settings = cells["ram"]["connections"], cells["ram"]["parameters"]
    assert (wires["DOB0"], wires["DOB1"], wires["OCEB"]) == ([REGISTERED[0]], [REGISTERED[1]], [ENABLE])
    assert (settings["REGMODE_A"], settings["REGMODE_B"], settings["OCEBMUX"]) == ("NOREG", "OUTREG", "OCEB")


def test_a_word_of_36_bits_is_of_both_sides() -> None:
    gone, cells = changed(ram=memory(36), low=register(0), high=register(1))
    assert gone == 2
    settings = cells["ram"]["parameters"]
    assert (settings["REGMODE_A"], settings["REGMODE_B"]) == ("OUTREG", "OUTREG")
    # A clock of its own for each side says nothing of which one registers what.
    apart = memory(36, CLKA=[OTHER_CLOCK])
    assert changed(ram=apart, low=register(0), high=register(1))[0] == 0


def test_an_enable_may_be_inverted_or_constant() -> None:
    inverted = [register(bit, CEMUX="INV") for bit in (0, 1)]
    _, cells = changed(ram=memory(), low=inverted[0], high=inverted[1])
    assert (cells["ram"]["parameters"]["OCEBMUX"], cells["ram"]["connections"]["OCEB"]) == ("INV", [ENABLE])
    always = [register(bit, CEMUX="1 ") for bit in (0, 1)]
    _, cells = changed(ram=memory(), low=always[0], high=always[1])
    assert (cells["ram"]["parameters"]["OCEBMUX"], cells["ram"]["connections"]["OCEB"]) == ("OCEB", ["1"])


@pytest.mark.parametrize(
    "other",
    [
        {"CLK": [OTHER_CLOCK]},
        {"CLKMUX": "INV"},
        {"CE": [RESET]},
        {"CEMUX": "INV"},
        {"LSR": [RESET]},
        {"REGSET": "SET"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_registers_that_are_not_alike_or_are_reset_stay(other: dict[str, Any]) -> None:
    gone, cells = changed(ram=memory(), low=register(0), high=register(1, **other))
    assert gone == 0 and set(cells) == {"ram", "low", "high"}
    assert cells["ram"] == memory()


def test_a_word_that_goes_elsewhere_too_stays_as_it_is() -> None:
    second = register(1) | {"connections": register(1)["connections"] | {"Q": [30]}}
    assert changed(ram=memory(), low=register(0), high=register(1), second=second)[0] == 0
    port = {"seen": {"direction": "output", "bits": [WORD[1]]}}
    assert changed(port, ram=memory(), low=register(0), high=register(1))[0] == 0
    by_enable = register(1, CE=[WORD[1]], DI=[30])
    assert changed(ram=memory(), low=register(0), high=by_enable)[0] == 0


def test_a_memory_that_is_reset_keeps_its_output() -> None:
    assert changed(ram=memory(RSTB=[RESET]), low=register(0), high=register(1))[0] == 0
