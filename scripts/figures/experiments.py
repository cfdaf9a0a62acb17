# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reports of the experiments over ns-3 (`make experiment NAME=`)."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from scripts.figures.schema import Shown


class Linearity(Shown):
    figures: list[LinearityFigure]


class LinearityFigure(Shown):
    number: str = Field(alias="figure")
    cross_sources: int
    meets_ms: int | None
    published_ms: int | None
    points: list[LinearityPoint]


class LinearityPoint(Shown):
    gap_ms: int
    received_ms: float


class League(Shown):
    """experiments/league.json: of its tables what the page shows, by path and by start-up and steady policy."""

    seconds: dict[str, dict[str, float | None]]  # to 1 MB, alone
    cubic_keeps: dict[str, dict[str, float | None]]  # share of what it has alone

    @model_validator(mode="before")
    @classmethod
    def _of_tables(cls, report: Any) -> Any:
        if "tables" not in report:
            return report
        return {
            "seconds": _columns(report, "Alone", "1 MB, s"),
            "cubic_keeps": _columns(report, "Beside", "CUBIC keeps"),
        }


def _columns(report: Any, title: str, head: str) -> dict[str, dict[str, float | None]]:
    """That column of the tables with that title; a table's title ends in its path."""
    tables = [table for table in report["tables"] if table["title"].startswith(title) and head in table["heads"]]
    return {
        table["title"].partition(": ")[2].partition(": ")[2]: {
            row[0]: row[table["heads"].index(head)] for row in table["rows"]
        }
        for table in tables
    }


class Files(Shown):
    """experiments.json: of the experiments that are files."""

    published: int
    reproduced: int
    explained: int
    failed: int
    null_rows: int = 0
    null_reproduced: int = 0
    experiments: dict[str, FileCounts]

    def added_to(self, recorded: Self) -> Self:
        """A report has the files that ran on its machine; those of the record that did not stay, and those that ran in
        full where the report has the quick form. What the null model did stays while the file is the same."""
        old = recorded.experiments
        full = {name: each for name, each in old.items() if each.form == "full" and each.file_sha256}
        quick = {name for name, each in self.experiments.items() if each.form == "quick"}
        stay = {name: each for name, each in full.items() if name in quick}
        new = {name: each.with_null_of(old[name]) if name in old else each for name, each in self.experiments.items()}
        files = dict(sorted((old | new | stay).items()))
        outside = [row for each in files.values() for row in each.outside]
        explained = sum(bool(row.explained) for row in outside)
        counts = {
            "published": sum(each.published for each in files.values()),
            "reproduced": sum(each.reproduced for each in files.values()),
            "explained": explained,
            "failed": len(outside) - explained,
            "null_rows": sum(each.null_rows or 0 for each in files.values()),
            "null_reproduced": sum(each.null_reproduced or 0 for each in files.values()),
        }
        return self.model_copy(update={"experiments": files, **counts})


class FileCounts(Shown):
    title: str
    source: str
    form: str
    runs_of_a_cell: int
    simulated_seconds: float | None = None
    file_sha256: str | None = None  # the file and its base
    commit: str | None = None
    published: int
    reproduced: int
    null_rows: int | None = None  # those whose runs the null model changes, and those that it passes
    null_reproduced: int | None = None
    rows: tuple[Row, ...] = ()
    outside: list[Outside]

    def with_null_of(self, older: FileCounts) -> FileCounts:
        """With what the null model did before, if this run is without it and of the same file."""
        key = self.file_sha256, self.form, len(self.rows)
        if self.null_rows is not None or key != (older.file_sha256, older.form, len(older.rows)):
            return self
        rows = [row.model_copy(update={"null": was.null}) for row, was in zip(self.rows, older.rows, strict=True)]
        found = {"null_rows": older.null_rows, "null_reproduced": older.null_reproduced}
        return self.model_copy(update={"rows": tuple(rows), **found})


class Row(Shown):
    figure: str
    quantity: str
    level: str
    unit: str
    published: float | str | None
    tolerance: float | str | None
    ours: float | str | None
    confidence_95: tuple[float, float] | None = None
    seeds: int | None = None
    within: bool
    null: Null | None = None
    explained: str = ""


class Null(Shown):
    ours: float | str | None
    within: bool


class Outside(Shown):
    figure: str
    quantity: str
    published: float | str | None
    ours: float | str | None
    explained: str
