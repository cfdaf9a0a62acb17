# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What goes from nextpnr's placing to its routing, on texts as nextpnr writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scripts.placement import routing

WIRE, CORE = "$glbnet$rgmii_0_rx_clk$TRELLIS_IO_IN", "$glbnet$inside_1.CLKOS"
LOG = f"""\
Info: Max frequency for clock '{WIRE}': 164.29 MHz (PASS at 125.00 MHz)
Warning: Max frequency for clock          '{CORE}': 59.31 MHz (FAIL at 62.50 MHz)
Info: Max delay <async> -> posedge {CORE}: 1.47 ns
"""


class Relieved:
    """Stands for a design."""

    def __init__(self) -> None:
        self.written: list[Path] = []
        self.settings: dict[str, str] = {}

    def write(self, path: Path) -> None:
        self.written.append(path)


def test_clocks_are_routed_for_what_they_were_placed_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    design = Relieved()

    def relieve(*arguments: Any) -> Relieved:
        asked.append(arguments)
        return design

    monkeypatch.setattr(routing, "relieve", relieve)
    log, placed = tmp_path / "placed.log", tmp_path / "placed.unrouted.json"
    log.write_text(LOG)
    options = routing.relieved(placed, log, ["--45k", "--speed", "6"], 7)
    relieved, clocks = tmp_path / "relieved.json", tmp_path / "clocks.sdc"
    assert asked == [(placed, "6", {WIRE: 8.0, CORE: 16.0}, 7, routing.PASSES)]
    assert design.written == [relieved]
    assert design.settings["router2/bbMargin/x"] == 29 * "0" + "110"
    assert options == ["--json", relieved, "--no-pack", "--no-place", "--sdc", clocks]
    assert clocks.read_text().splitlines() == [
        f"create_clock -period 8 [get_nets {{{WIRE}}}]",
        f"create_clock -period 16 [get_nets {{{CORE}}}]",
    ]


@pytest.mark.parametrize(
    ("options", "grade"),
    [(["--85k", "--speed", "8"], "8"), (["--um5g-85k", "--speed", "8"], "8_5G"), (["--45k", "--speed", "6"], "6")],
)
def test_the_grade_is_the_databases(options: list[str], grade: str) -> None:
    assert routing.grade(options) == grade
