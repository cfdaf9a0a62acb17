# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The session's own report, in the process that people look at: a line for each row, the failures whole."""

from __future__ import annotations

import textwrap

import pytest

from scripts.check.rows import Row, collection_row, item_rows

MESSAGE_LINES = 40


class Reporter:
    """Counts rows and prints them as they come."""

    def __init__(self, seed: int, target: str) -> None:
        self.seed, self.target = seed, target
        self.rows: list[Row] = []

    def count(self, outcome: str) -> int:
        return sum(row.outcome == outcome for row in self.rows)

    def summary(self) -> str:
        parts = [f"{self.count('passed')} passed", f"{self.count('failed')} failed"]
        if self.count("skipped"):
            parts.append(f"{self.count('skipped')} skipped")
        return ", ".join(parts)

    def failures(self) -> list[str]:
        """Lines that repeat each failure, whole: a log is read from its end, and often cut above it."""
        failed = [row for row in self.rows if row.outcome == "failed"]
        return [line for row in failed for line in (self._line(row), self._details(row))]

    def _line(self, row: Row) -> str:
        mark = "FAILED" if row.outcome == "failed" else row.outcome
        return f"{mark:7} {row.module}: {row.case or 'the module'} ({row.seconds:.1f} s)"

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(self._line(row), flush=True)
        if row.outcome == "skipped" and row.message:
            print(f"        {row.message}")
        elif row.outcome == "failed":
            print(self._details(row), flush=True)

    def _details(self, row: Row) -> str:
        lines = [line for line in row.message.strip().splitlines() if not line.startswith("[gw")]
        if len(lines) > MESSAGE_LINES:
            lines = ["...", *lines[-MESSAGE_LINES:]]
        if row.log:
            lines.append(f"log:   {row.log}")
        lines.append(f"again: {row.rerun(self.seed, self.target)}")
        return textwrap.indent("\n".join(lines), "        ")

    # pytest's hooks

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str]:
        return report.outcome, "", ""  # no dots between our lines

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.add(collection_row(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for row in item_rows(report):
            self.add(row)
        for note in getattr(report, "downbeat_notes", []):
            print(f"        {note}", flush=True)
