# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The requirements of RFC 9293 that cocotb_tests/rfc9293.toml lists, and their tables in the documentation site."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "cocotb_tests" / "rfc9293.toml"
MARK = re.compile(r"<!-- requirements: ([A-Z ]+) -->")


@dataclass(frozen=True)
class Requirement:
    """`here`: tests in backticks, or the reason for a status; `status`: empty if it is kept, or used."""

    number: str  # MUST-1
    section: str
    requires: str
    here: str
    status: str = ""


def read(text: str) -> list[Requirement]:
    """Raises TOMLDecodeError, also where a number is there twice."""
    return [Requirement(number, **fields) for number, fields in tomllib.loads(text).items()]


def shown(page: str) -> str:
    """The page with a table in the place of each mark."""
    return MARK.sub(lambda mark: _table(mark[1].split()), page) if MARK.search(page) else page


def _table(kinds: list[str]) -> str:
    chosen = [each for each in read(FILE.read_text()) if each.number.partition("-")[0] in kinds]
    rows = (
        f'| <span class="whole">{each.number}</span> | {each.section} | {each.requires} | '
        f"{f'**{each.status}**: ' * bool(each.status)}{each.here} |"
        for each in chosen
    )
    return "\n".join(["| | section | requirement | test, or why not |", "|---|---|---|---|", *rows])
