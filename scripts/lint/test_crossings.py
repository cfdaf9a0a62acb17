# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Clock-domain crossings: constraints/common lists those of the MAC and of the boards, and no module has another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, VERILOG

MACS = [ROOT / "constraints" / "common" / f"{mac}.crossings" for mac in ("GmiiMac", "XgmiiMac")]
BOARDS = ROOT / "constraints" / "common" / "boards.crossings"
ROW = re.compile(r"\| `(\S+)` \| (.+) \| (\w+) \|")
Crossing = tuple[str, str, str]


def _rows(text: str) -> list[Crossing]:
    return [crossing.groups() for line in text.splitlines() if (crossing := ROW.fullmatch(line))]  # type: ignore[misc]


def _listed(file: Path) -> list[Crossing]:
    return _rows(file.read_text())


def _unnumbered(name: str) -> str:
    """Without the numbers that keep an instance apart from others of its name: `time_1.now` is `time_2.now`."""
    return re.sub(r"_\d+(?=[._])", "", name)


def _endings(name: str) -> list[str]:
    """`a.b.c`, `b.c`: without the instances that it stands in, but never the register alone."""
    parts = name.split(".")
    return [".".join(parts[begin:]) for begin in range(max(1, len(parts) - 1))]


@pytest.mark.parametrize("mac", MACS, ids=lambda mac: mac.stem)
def test_the_crossings_of_the_macs_are_those_that_are_listed(mac: Path) -> None:
    found = (VERILOG / mac.name).read_text().splitlines()
    listed = mac.read_text().splitlines()
    new, gone = sorted(set(found) - set(listed)), sorted(set(listed) - set(found))
    assert not new and not gone, "\n".join(
        [
            f"constraints/common/{mac.name} and build/rtl/{mac.name} differ",
            *(f"+ {row}" for row in new),
            *(f"- {row}" for row in gone),
        ]
    )


def test_no_other_module_crosses() -> None:
    """A module around the MAC has its crossings, behind the names of instances; a part of the MAC has them without its
    own."""
    listed = {_unnumbered(name) for file in (*MACS, BOARDS) for name, _, _ in _listed(file)}
    names = listed | {name.partition(".")[2] for name in listed}
    others = [
        f"{file.stem}: {name} from {source} to {target}"
        for file in sorted(VERILOG.glob("*.crossings"))
        for name, source, target in _rows(file.read_text())
        if not {_unnumbered(part) for part in _endings(name)} & names
    ]
    assert not others, "crossings that constraints/common does not list:\n" + "\n".join(others)
