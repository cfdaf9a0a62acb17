# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How a figure and a table are written: one rounding rule for all pages."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from textwrap import fill
from typing import Protocol

RULE = "To four digits; a dash: not measured."
DIGITS, SMALL = 4, 1e-4
Value = int | float | str | None


class Ran(Protocol):
    """Something with the command that measured it."""

    @property
    def command(self) -> str: ...

    @property
    def is_of_this_rtl(self) -> bool: ...


def number(value: Value) -> str:
    """The cell of a table: text as it is, figures by RULE."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if value and abs(value) < SMALL:
        return f"{value:.1e}"
    places = DIGITS - 1 - (floor(log10(abs(value))) if value else 0)
    text = f"{round(value, places):,.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float | None) -> str:
    return "-" if share is None else f"{number(100 * share)} %"


def table(heads: Sequence[str], rows: Sequence[Sequence[Value]], left: int = 1) -> str:
    """The first `left` columns are texts, the others figures."""
    marks = "|".join("---" if column < left else "---:" for column in range(len(heads)))
    head, *lines = (f"|{'|'.join(map(number, cells))}|" for cells in (heads, *rows))
    return "\n".join([head, f"|{marks}|", *lines])


def tabled(
    title: str, entries: Sequence[Ran], shows: str, heads: Sequence[str], rows: Sequence[Sequence[Value]], left: int = 1
) -> str | None:
    """A section with one table; none where nothing was measured."""
    return section(title, commands(entries), shows + age(entries), table(heads, rows, left)) if rows else None


def age(entries: Sequence[Ran]) -> str:
    """A sentence on runs that are older than the core; without it their page is stale."""
    older = sum(not entry.is_of_this_rtl for entry in entries)
    runs = "all" if older == len(entries) else f"{older} of {len(entries)} runs"
    return f" Older than the core: {runs}." if older else ""


def commands(entries: Sequence[Ran]) -> list[str]:
    return list(dict.fromkeys(entry.command for entry in entries))


def section(title: str, measured: Sequence[str], shows: str, body: str) -> str:
    """A measurement's explanation, its figures, and the commands that measure it."""
    made = "\n" + "".join(f"    {command}\n" for command in measured) if measured else ""
    return f"## {title}\n\n{prose(shows)}\n\n{body}\n{made}"


def page(title: str, opening: str, sections: Sequence[str | None]) -> str:
    """`None`: there is no record of it."""
    made = "<!-- Written by scripts.figures. -->"
    return "\n".join(
        [f"# {title}\n", f"{made}\n", f"{prose(f'{opening} {RULE}')}\n", *(each for each in sections if each)]
    )


def prose(text: str) -> str:
    return fill(text, 118, break_long_words=False, break_on_hyphens=False)
