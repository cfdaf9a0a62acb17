# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fmax ESTIMATE=1` on small netlists as Yosys writes them: which path is the longest, and by which cells it
goes."""

from __future__ import annotations

from typing import Any

import pytest

from scripts.ecp5.fmax import estimate
from scripts.ecp5.fmax.estimate import paths, text

OUTPUTS = {"Z", "Q", "COUT", "S0", "S1", "DOA0", "DOB0"}


def netlist(**cells: tuple[str, dict[str, int]]) -> dict[str, Any]:
    """Cells of a type with a net on each port; a net's name is `n` and its number."""

    def cell(kind: str, ports: dict[str, int]) -> dict[str, Any]:
        return {
            "type": kind,
            "parameters": {},
            "connections": {port: [net] for port, net in ports.items()},
            "port_directions": {port: "output" if port in OUTPUTS else "input" for port in ports},
        }

    nets = {net for _, ports in cells.values() for net in ports.values()}
    top = {
        "attributes": {"top": "1"},
        "cells": {name: cell(*of) for name, of in cells.items()},
        "netnames": {f"dut.n{net}": {"bits": [net]} for net in nets},
    }
    return {"modules": {"Fmax": top}}


def test_a_path_is_registers_cells_and_wires() -> None:
    found = paths(
        netlist(
            first=("TRELLIS_FF", {"DI": 9, "Q": 1}),
            near=("LUT4", {"A": 1, "Z": 2}),
            far=("LUT4", {"B": 2, "Z": 3}),
            last=("TRELLIS_FF", {"DI": 3, "Q": 4}),
        )
    )
    ns, net, end = found.longest()[0]
    assert (net, end) == (3, "n4")
    assert ns == pytest.approx(estimate.CLOCK_TO_REGISTER + 2 * (estimate.WIRE + estimate.LUT))
    assert [cell for _, cell in found.back(net)] == ["LUT", "LUT", "register"]


def test_a_carry_chain_has_no_wires_inside() -> None:
    links = {f"carry{i}": ("CCU2C", {"A0": 1, "CIN": 10 + i, "COUT": 11 + i}) for i in range(1, 5)}
    found = paths(netlist(first=("TRELLIS_FF", {"DI": 9, "Q": 1}), **links))
    assert found.arrival(15) == pytest.approx(
        estimate.CLOCK_TO_REGISTER + found.wire(1) + estimate.INTO_CARRY + 3 * estimate.CARRY
    )


def test_a_wire_to_many_inputs_is_longer() -> None:
    few = paths(netlist(first=("TRELLIS_FF", {"DI": 9, "Q": 1}), a=("LUT4", {"A": 1, "Z": 2})))
    readers = {f"a{i}": ("LUT4", {"A": 1, "Z": 100 + i}) for i in range(64)}
    many = paths(netlist(first=("TRELLIS_FF", {"DI": 9, "Q": 1}), **readers))
    assert many.wire(1) == pytest.approx(few.wire(1) + 6 * estimate.WIRE_DOUBLED + estimate.WIRE_FAR)


def test_a_path_ends_in_the_setup_of_what_it_ends_at() -> None:
    found = paths(
        netlist(
            first=("TRELLIS_FF", {"DI": 9, "Q": 1}),
            reset=("TRELLIS_FF", {"LSR": 1, "Q": 4}),
            store=("DP16KD", {"ADB3": 1, "DOB0": 5}),
        )
    )
    wire = estimate.CLOCK_TO_REGISTER + found.wire(1)
    ends = {end: ns for ns, _, end in found.longest()}
    assert ends["n4"] == pytest.approx(wire + estimate.SETUP["TRELLIS_FF"]["LSR"])
    assert ends["store"] == pytest.approx(wire + estimate.SETUP["DP16KD"]["AD"])
    assert found.starts[5] == estimate.CLOCK_TO_BLOCK_RAM["B"]


def test_a_block_rams_own_register_is_quick() -> None:
    design = netlist(store=("DP16KD", {"ADB3": 1, "DOB0": 5}))
    design["modules"]["Fmax"]["cells"]["store"]["parameters"]["REGMODE_B"] = "OUTREG"
    assert paths(design).starts[5] == estimate.CLOCK_TO_OUTPUT_REGISTER


def test_a_net_without_a_name_is_called_after_its_cell() -> None:
    copy = "dut.n4_TRELLIS_FF_Q_copy_1"
    design = netlist(**{"first": ("TRELLIS_FF", {"DI": 9, "Q": 1}), copy: ("TRELLIS_FF", {"DI": 1, "Q": 5})})
    del design["modules"]["Fmax"]["netnames"]["dut.n5"]
    assert [end for _, _, end in paths(design).longest()] == ["n4", "n1"]


def test_the_text_has_the_longest_path_first_and_names_what_it_passes() -> None:
    shown = text(
        paths(
            netlist(
                store=("DP16KD", {"ADA0": 8, "DOA0": 1}),
                near=("LUT4", {"A": 1, "Z": 2}),
                last=("TRELLIS_FF", {"DI": 2, "Q": 4}),
                other=("TRELLIS_FF", {"DI": 4, "Q": 5}),
            )
        ),
        count=1,
    )
    total = estimate.CLOCK_TO_BLOCK_RAM["A"] + estimate.WIRE + estimate.LUT
    assert shown.splitlines() == [
        f"{total:6.2f} ns, 1 cells: to n4",
        "            register   n1",
        "            LUT        n2",
    ]
