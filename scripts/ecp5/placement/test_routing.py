# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Options by which nextpnr routes an annealed design; test_annealing.py has it route one."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.ecp5.placement.routing import CROWDED, ROUNDS, reopen, route
from scripts.failure import RoundsOver, ToolFailed

WIRES = ";".join(f"X{x}/Y1/F0;X{x}/Y1/F0.A;1" for x in range(6))
ROUTED = f"""{{
        "router/tmg_ripup": "0 ",
        "router": "router2"
            "ROUTING": " "
            "ROUTING": "X0/Y0/G_CLK;;3",
            "ROUTING": "{WIRES}"
            "ROUTING": "{WIRES}",
}}
"""


def test_a_routed_design_is_router1s_with_a_net_left_open(tmp_path: Path) -> None:
    routed, opened = tmp_path / "routed", tmp_path / "opened"
    routed.write_text(ROUTED)
    reopen(routed, opened, late=True)
    wanted = ROUTED.replace("router2", "router1").replace('"0 "', '"1 "').replace(WIRES, " ", 1)
    assert opened.read_text() == wanted


def test_what_nextpnr_does_not_write_so_is_refused(tmp_path: Path) -> None:
    routed = tmp_path / "routed"
    routed.write_text(ROUTED.replace(WIRES, WIRES.replace(";1", ";3")))
    with pytest.raises(ToolFailed, match=r"is not as nextpnr .* writes a routed design: nothing is like .*ROUTING"):
        reopen(routed, tmp_path / "opened", late=True)


@pytest.mark.parametrize("ends", [True, False])
def test_late_paths_that_cant_be_had_in_time_stay_as_router2_has_left_them(ends: bool, tmp_path: Path) -> None:
    calls: list[tuple[str, bool, int | None]] = []

    def nextpnr(_log: Path, *options: str | Path, rounds: int | None = None) -> None:
        design = Path(options[options.index("--json") + 1])
        if "--write" in options:
            Path(options[options.index("--write") + 1]).write_text(ROUTED)
        late = design.name.endswith(".opened") and '"router/tmg_ripup": "1 "' in design.read_text()
        calls.append((design.name, late, rounds))
        assert ("--report" in options) == (len(calls) > 1)
        if late and not ends:
            raise RoundsOver("goes on and on")

    (tmp_path / "design.json").touch()
    files = tmp_path / "log", tmp_path / "clocks", tmp_path / "design.json"
    route(nextpnr, *files, ["--seed", "1"], ["--report", tmp_path / "report"])
    first, second = ("design.json", False, CROWDED), ("design.opened", True, ROUNDS)
    assert calls == ([first, second] if ends else [first, second, ("design.opened", False, None)])
    assert [made.name for made in tmp_path.iterdir()] == ["design.json"]


def test_a_design_that_router2_does_not_end_on_is_too_crowded(tmp_path: Path) -> None:
    def nextpnr(*_options: str | Path, rounds: int | None = None) -> None:
        raise RoundsOver(f"not after {rounds}")

    files = tmp_path / "routing.log", tmp_path / "clocks", tmp_path / "design.json"
    with pytest.raises(
        ToolFailed,
        match=rf"after {CROWDED} rounds of router2 .*routing.log.*: the design is too crowded.* another seed",
    ):
        route(nextpnr, *files, [], ["--report", tmp_path / "report"])
