# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Pipeline steps in rtl/ are areas (`new s1.Area { ... }`), in which a key stands for its value on that node.

Two forms compile and are refused here. `KEY()` makes a fresh signal that nothing drives. `s1(KEY)` is the
notation without areas; where a file needs it, ALLOWED says how often.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from scripts.lint.tools import ROOT, project_files

ALLOWED: Mapping[str, int] = {}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DECLARED = re.compile(r"\bval\s+(\w+(?:\s*,\s*\w+)*)\s*(?::[^=\n]*)?=\s*(?:\w+\.)?(?:Payload|insert)\b")
METHOD = re.compile(r"\bdef\s+(\w+)")
APPLIED = re.compile(r"(?<!new )\b(\w+)\(\)")
STEP = re.compile(r"\bs[0-5]\(")


def keys(source: str) -> set[str]:
    """The names that a file gives to pipeline keys, `Payload(...)` or `insert(...)`, and to nothing that is called."""
    return {name.strip() for names in DECLARED.findall(source) for name in names.split(",")} - set(
        METHOD.findall(source)
    )


def applied_empty(source: str, known: set[str]) -> list[str]:
    """Each line on which a key has empty parentheses."""
    return [
        f"{number}: {line.strip()}"
        for number, line in enumerate(source.splitlines(), 1)
        if known.intersection(APPLIED.findall(line))
    ]


def step_applications(source: str) -> int:
    return len(STEP.findall(source))


def complaints(sources: Mapping[str, str], allowed: Mapping[str, int]) -> list[str]:
    """Mistakes of the files, a line each; `sources` is their text by path."""
    bare = {path: COMMENT.sub(_lines, text) for path, text in sources.items()}
    own = {path: keys(text) for path, text in bare.items()}
    # Signals' keys are written in capitals and imported everywhere; others are a file's own.
    shared = {name for names in own.values() for name in names if name.isupper()}
    found = [f"{path}:{line}" for path, text in bare.items() for line in applied_empty(text, own[path] | shared)]
    for path in sorted({*bare, *allowed}):
        count, limit = step_applications(bare.get(path, "")), allowed.get(path, 0)
        if count != limit:
            found.append(f"{path}: {count} applications of a step (s0 to s5) to a key, {limit} allowed: use an area")
    return found


def _lines(comment: re.Match[str]) -> str:
    """Nothing but its line ends, so that line numbers stay."""
    return "\n" * comment[0].count("\n")


def test_steps_are_areas() -> None:
    paths = [path for path in project_files() if path.suffix == ".scala" and path.is_relative_to(Path("rtl"))]
    found = complaints({str(path): (ROOT / path).read_text() for path in paths}, ALLOWED)
    assert not found, "\n".join(found)


GOOD = """
  val LIVE = Payload(Bool())
  val first, second = s0.insert(True)
  /** Not `LIVE()`, nor s1(LIVE). */
  private val compare = new s1.Area {
    val smaller = insert(LIVE && first && TcpState.closed())
  }
"""


def test_it_accepts_areas() -> None:
    assert not complaints({"Good.scala": GOOD}, {})


def test_it_finds_an_empty_application() -> None:
    bad = GOOD.replace("LIVE && first", "LIVE() && first()")
    assert complaints({"Bad.scala": bad}, {}) == [
        "Bad.scala:6: val smaller = insert(LIVE() && first() && TcpState.closed())"
    ]
    assert complaints({"Signals.scala": GOOD, "Bad.scala": "when(LIVE())(a := b)"}, {}) == [
        "Bad.scala:1: when(LIVE())(a := b)"
    ]


def test_it_finds_a_step_that_is_applied() -> None:
    bad = GOOD + "  s5(NEXT) := s4(next)\n"
    assert complaints({"Bad.scala": bad}, {}) == [
        "Bad.scala: 2 applications of a step (s0 to s5) to a key, 0 allowed: use an area"
    ]
    assert not complaints({"Bad.scala": bad}, {"Bad.scala": 2})


def test_an_allowance_that_is_not_needed_is_refused() -> None:
    assert complaints({"Good.scala": GOOD}, {"Good.scala": 1, "Gone.scala": 1}) == [
        "Gone.scala: 0 applications of a step (s0 to s5) to a key, 1 allowed: use an area",
        "Good.scala: 0 applications of a step (s0 to s5) to a key, 1 allowed: use an area",
    ]
