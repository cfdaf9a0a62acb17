# SPDX-License-Identifier: BSD-2-Clause-Patent
"""[[published]] and [[plot]] blocks: a block's keys hold for each of its `rows`; a block without `rows` is one row.

A row's key replaces the block's; its `of` and `over` add to the block's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from downbeat_toe.refused import Refused

TABLES = ("published", "plot")
ADDED = ("of", "over")


@dataclass(frozen=True)
class Row:
    table: str
    keys: dict[str, Any]
    block: int  # from 1
    number: int = 0  # in the block's `rows`, from 1; 0: the block has none
    own: frozenset[str] = frozenset()  # keys that the row itself gives

    @property
    def place(self) -> str:
        return f"{self.table}.{self.block}" + (f".rows.{self.number}" if self.number else "")

    def key(self, path: Sequence[str]) -> str:
        """Place of a key in the file, in the row or in its block."""
        place = (
            self.place if not path or path[0] in self.own or path[0] not in self.keys else f"{self.table}.{self.block}"
        )
        return ".".join([place, *path])


Rows = Mapping[str, Sequence[Row]]  # by table


def read(table: str, blocks: Any, full: bool) -> list[Row]:
    """The rows of a table's blocks in the file's order; the quick form leaves out rows with `full`. Raises Refused; its
    message lacks the file."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise Refused(f"{table}: use a list; tables of one are written [[{table}]]")
    rows = [row for number, block in enumerate(blocks, 1) for row in _of_block(table, block, number)]
    return [row for row in rows if full or row.keys.get("full") is not True]


def _of_block(table: str, block: dict[str, Any], number: int) -> Iterator[Row]:
    common = {key: value for key, value in block.items() if key != "rows"}
    rows = block.get("rows")
    if rows is None:
        yield Row(table, common, number)
        return
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise Refused(f"{table}.{number}.rows: use a list of tables, as [ {{ metric = ..., of.axis = ... }}, ... ]")
    for place, row in enumerate(rows, 1):
        both = {key: common[key] | row[key] for key in ADDED if _tables(common.get(key), row.get(key))}
        yield Row(table, common | row | both, number, place, frozenset(row))


def _tables(*values: Any) -> bool:
    return all(isinstance(value, dict) for value in values)
