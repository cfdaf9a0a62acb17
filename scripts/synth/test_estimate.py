# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The estimate before a build: its stated error holds for a recorded netlist of another set, and what it adds up."""

from __future__ import annotations

import json

import pytest

from scripts.synth.estimate import (
    CALCULATIONS,
    ERROR,
    RECORDS,
    STATE,
    Area,
    estimate,
    on_board,
    refusal,
    wrong,
)
from scripts.synth.sources import build, calculators, policies

LARGE = "board,policies=standard,rapid,search,miss,resume,spm;reno,cubic,logistic,carson"


def recorded(preset: str) -> dict[str, int]:
    entries = [entry["figures"] for entry in json.loads((RECORDS / "core.json").read_text())]
    (row,) = next(each["modules"] for each in entries if each["preset"] == preset)
    return row  # type: ignore[no-any-return]


def test_a_recorded_netlist_of_another_set_and_more_flows_is_estimated_within_the_stated_error() -> None:
    name = "board,flows=16,policies=standard,rapid,resume,spm;reno,cubic,logistic,carson"
    area, netlist = estimate(name), recorded(name)
    assert area and area.lut != netlist["lut"], "its own record"
    assert not wrong(area, netlist["lut"], netlist["ff"])
    assert wrong(area, round(netlist["lut"] / (1 + 2 * ERROR / 100)), netlist["ff"]).startswith("the estimate is off")


def test_a_policy_more_takes_more_and_a_shared_unit_counts_once() -> None:
    def lut(chosen: str) -> float:
        area = estimate(f"board,policies={chosen}")
        assert area
        return area.lut

    alone, miss, resume = lut("standard;reno"), lut("standard,miss;reno"), lut("standard,resume;reno")
    both = lut("standard,miss,resume;reno")
    assert calculators("miss") == calculators("resume") == {"misswindow"}
    assert alone < miss and alone < resume < both
    unit = next(
        row["lut"]
        for entry in json.loads((RECORDS / "core.json").read_text())
        for row in entry["figures"]["modules"]
        if row["name"] == "CalculatorMisswindow"
    )
    assert miss + resume - both == pytest.approx(alone + unit + CALCULATIONS + 98 * STATE)  # bits of miss's state


def test_payload_memory_and_policy_state_count_by_their_bits() -> None:
    few, more = estimate("board"), estimate("board,flows=16")
    assert few and more
    assert more.bram - few.bram == 12 * 2 * 4096 / 2048
    cubic = estimate("board,policies=standard;reno,cubic")
    assert cubic and cubic.state_bits == 225


def test_what_does_not_fit_is_refused_in_a_line_that_names_what_to_leave_out() -> None:
    area = on_board(LARGE)
    assert area
    line = refusal(area, LARGE)
    assert "\n" not in line and "above 75 % does not route: leave out " in line
    out = line.rpartition("leave out ")[2].split(", ")
    left = [name for name in build(LARGE).policies if name not in out]
    families = [[name for name in left if name in policies(family)] for family in ("startup", "steady")]
    smaller = "board,policies=" + ";".join(map(",".join, families))
    fits = on_board(smaller)
    assert fits and not refusal(fits, smaller)


def test_too_much_block_ram_is_refused_by_that() -> None:
    assert refusal(Area(bram=300), "board,flows=64").startswith("300 block RAMs of 208")


@pytest.mark.parametrize(
    ("name", "flows", "buffer", "external", "chosen"),
    [
        ("board", 4, 4096, False, ["standard", "paced", "pairs", "reno"]),
        ("lean,flows=64,externalMemory=true", 64, 65536, True, ["standard", "reno"]),
        ("board,policies=standard,rapid;reno,cubic,flows=16", 16, 4096, False, ["standard", "rapid", "reno", "cubic"]),
        ("sim", 16, 1 << 20, False, None),
        ("host", 16, 4096, True, ["standard", "paced", "pairs", "reno", "cubic"]),
    ],
)
def test_a_build_is_read_from_the_scala_sources(
    name: str, flows: int, buffer: int, external: bool, chosen: list[str] | None
) -> None:
    found = build(name)
    assert (found.flows, found.buffer_bytes, found.external) == (flows, buffer, external)
    assert found.policies == (chosen or policies())
