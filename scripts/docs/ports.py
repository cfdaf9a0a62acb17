# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The ports of the tops in docs/reference/ports.md, from the notes at their declarations; `make generate` writes them.

The page has a mark for each top, `<!-- ports of TOP -->` to `<!-- end -->`; what another top has alike is not repeated.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "ports.md"
VERILOG = ROOT / "build" / "rtl"
# The files that a top is compared with.
BESIDE = {
    "DownbeatAxi": "Downbeat",
    "DownbeatGmii": "DownbeatAxi",
    "DownbeatHost": "DownbeatAxi",
    "DownbeatXgmii": "DownbeatGmii",
}
MARK = re.compile(r"(<!-- ports of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
HEAD = ("| port | bits | |", "|---|---|---|")
NAME = re.compile(r"^\| `([^`]+)`", re.MULTILINE)


def written(page: str, verilog: Path = VERILOG) -> str:
    """The page with its tables; each top's elaboration has left TOP.ports in the directory."""
    return MARK.sub(lambda mark: f"{mark[1]}\n{_section(mark[2], verilog)}\n{mark[3]}", page)


def _section(top: str, verilog: Path) -> str:
    rows = (verilog / f"{top}.ports").read_text().splitlines()
    if top not in BESIDE:
        return "\n".join([*HEAD, *rows]) + "\n"
    others = (verilog / f"{BESIDE[top]}.ports").read_text().splitlines()
    kept = set(NAME.findall("\n".join(rows)))
    gone = ", ".join(f"`{name}`" for name in NAME.findall("\n".join(others)) if name not in kept)
    without = f", without {gone}" if gone else ""
    opening = textwrap.fill(f"As `{BESIDE[top]}`{without}; besides:", 118, break_on_hyphens=False)
    return "\n".join([opening, "", *HEAD, *(row for row in rows if row not in others)]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
