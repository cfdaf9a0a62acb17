# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Results of cocotb cases: from the simulation's results file to the test session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class CaseResult:
    """One cocotb case; `outcome` is passed, failed or skipped, `log` the simulation's log file."""

    name: str
    outcome: str
    seconds: float  # wall time
    message: str
    log: str


class CasesFailed(Exception):
    """At least one case of a simulation failed; the session reports each of them."""


# Results of the pytest item that runs now; the session's plugin takes them (scripts/check/plugin.py).
_finished: list[CaseResult] = []
_notes: list[str] = []


def record(cases: list[CaseResult]) -> None:
    _finished.extend(cases)


def take() -> list[CaseResult]:
    cases = list(_finished)
    _finished.clear()
    return cases


def note(text: str) -> None:
    """A line for people, shown whether the item passes or not."""
    _notes.append(text)


def take_notes() -> list[str]:
    notes = list(_notes)
    _notes.clear()
    return notes


def read_results(results: Path, label: str, log: str) -> list[CaseResult]:
    """The cases of one simulation; `label` tells apart several configurations of a module."""
    prefix = f"{label}:" if label else ""
    cases = []
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        skipped = case.find("skipped") is not None
        outcome = "failed" if bad else "skipped" if skipped else "passed"
        message = "\n".join(child.text or child.get("message") or child.tag for child in bad)
        name = prefix + str(case.get("name"))
        cases.append(CaseResult(name, outcome, float(case.get("time", 0)), message, log))
    return cases
