# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Writes docs/reference/figures/*.md from their records; `take NAME...` first copies build/reports/NAME.json into
records.

python -m scripts.figures
python -m scripts.figures take latency gap
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from scripts.figures import area, gaps, latency, league, papers, programs, scale, speed
from scripts.figures.kinds import KINDS
from scripts.figures.records import PAGES, Records, Refused

MADE: dict[str, Callable[[Records], str]] = {
    "area-and-clock": area.page,
    "gaps": gaps.page,
    "latency": latency.page,
    "league": league.page,
    "papers": papers.page,
    "programs": programs.page,
    "scale": scale.page,
    "simulation-speed": speed.page,
}


def stale(pages: Path, records: Records) -> list[str]:
    """Names of the pages that are not what the records make."""
    files = {name: pages / f"{name}.md" for name in MADE}
    return [name for name, file in files.items() if not file.exists() or file.read_text() != MADE[name](records)]


def main(arguments: list[str]) -> int:
    records = Records()
    try:
        if arguments and arguments[0] != "take":
            raise Refused(f"{arguments[0]}: the one command is: take NAME...")
        for name in arguments[1:]:
            if name not in KINDS:
                raise Refused(f"{name}: there is no such record, use {', '.join(KINDS)}")
            print(f"{name}: {records.take(KINDS[name])}")
        for name, make in MADE.items():
            (PAGES / f"{name}.md").write_text(make(records))
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
