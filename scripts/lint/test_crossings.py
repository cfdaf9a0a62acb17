# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Clock-domain crossings: docs/reference/mac.md lists those of the MAC, docs/how-to/boards.md those of a board, and
no space has another."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.lint.tools import ROOT, VERILOG

PAGE = ROOT / "docs" / "reference" / "mac.md"
BOARDS = ROOT / "docs" / "how-to" / "boards.md"
ROW = re.compile(r"\| `(\S+)` \| (.+) \| (\w+) \|")
Crossing = tuple[str, str, str]


def _rows(text: str) -> list[Crossing]:
    return [crossing.groups() for line in text.splitlines() if (crossing := ROW.fullmatch(line))]  # type: ignore[misc]


def _listed(page: Path = PAGE) -> list[Crossing]:
    _, _, section = page.read_text().partition("## Clock-domain crossings")
    return _rows(section.partition("\n## ")[0])


def _unnumbered(name: str) -> str:
    """Without the numbers that keep an instance apart from others of its name: `time_1.now` is `time_2.now`."""
    return re.sub(r"_\d+(?=[._])", "", name)


def _endings(name: str) -> list[str]:
    """`a.b.c`, `b.c`: without the instances that it stands in, but never the register alone."""
    parts = name.split(".")
    return [".".join(parts[begin:]) for begin in range(max(1, len(parts) - 1))]


def test_the_page_lists_the_crossings_of_the_mac() -> None:
    found = (VERILOG / "GmiiMac.crossings").read_text().splitlines()
    listed = [f"| `{name}` | {source} | {target} |" for name, source, target in _listed()]
    new, gone = sorted(set(found) - set(listed)), sorted(set(listed) - set(found))
    assert not new and not gone, "\n".join(
        [
            "docs/reference/mac.md and build/rtl/GmiiMac.crossings differ",
            *(f"+ {row}" for row in new),
            *(f"- {row}" for row in gone),
        ]
    )


def test_no_other_module_crosses() -> None:
    """A module around the MAC has its crossings, behind the names of instances; a part of the MAC has them without its own."""
    listed = {_unnumbered(name) for name, _, _ in (*_listed(), *_listed(BOARDS))}
    names = listed | {name.partition(".")[2] for name in listed}
    others = [
        f"{file.stem}: {name} from {source} to {target}"
        for file in sorted(VERILOG.glob("*.crossings"))
        for name, source, target in _rows(file.read_text())
        if not {_unnumbered(part) for part in _endings(name)} & names
    ]
    assert not others, "crossings that neither docs/reference/mac.md nor docs/how-to/boards.md lists:\n" + "\n".join(
        others
    )
