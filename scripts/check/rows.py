# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One row of the session's report for each cocotb case and for each pytest item that is not a wrapper of cases."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from scripts.check.select import module_name


@dataclass(frozen=True)
class Row:
    module: str  # as TEST takes it
    case: str  # as CASE takes it; empty where a whole module failed
    outcome: str  # passed, failed, skipped
    seconds: float  # wall time
    message: str = ""
    log: str = ""

    def rerun(self, seed: int, target: str) -> str:
        """The line that runs exactly this again; `test` is the one target that must hear which module."""
        words = [f"TEST={self.module}"] if target == "test" else []
        words += [*([f"CASE={self.case}"] if self.case else []), f"SEED={seed}"]
        return " ".join([f"make {target}", *map(shlex.quote, words)])


def collection_row(report: pytest.CollectReport) -> Row:
    return Row(module_name(report.nodeid), "", "failed", 0.0, report.longreprtext)


def item_rows(report: pytest.TestReport) -> Iterator[Row]:
    """The rows of one phase of an item; set-up and tear-down have one only when they did not pass."""
    module = module_name(report.nodeid)
    cases: list[dict[str, Any]] = getattr(report, "downbeat_cases", [])
    for case in cases:
        name = case["name"]
        yield Row(module, name, case["outcome"], case["seconds"], case["message"], case["log"])
    if any(case["outcome"] == "failed" for case in cases):
        return
    name = report.nodeid.partition("::")[2]
    if report.failed:
        # A wrapper whose simulation gave no results is no case that CASE could name.
        shown = "" if getattr(report, "downbeat_wrapper", False) else name
        yield Row(module, shown, "failed", report.duration, report.longreprtext)
    elif report.skipped:
        yield Row(module, name, "skipped", report.duration, _skip_reason(report))
    elif report.when == "call" and not getattr(report, "downbeat_wrapper", False):
        yield Row(module, name, "passed", report.duration)


def _skip_reason(report: pytest.TestReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    return str(reason).removeprefix("Skipped: ")
