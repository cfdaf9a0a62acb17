# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Writes mutants into Verilog so that one build has them all: `+mutant=K` of the simulation switches one on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scripts.mutants.kinds import Change
from scripts.mutants.verilog import Statement, modules

SWITCH = "mutant_"
READ = f"""
  integer {SWITCH};
  initial begin
    {SWITCH} = 0;
    if (!$value$plusargs("mutant=%d", {SWITCH})) {SWITCH} = 0;
  end
"""


@dataclass(frozen=True)
class Planted:
    """A mutant's place in a file."""

    number: int
    start: int
    end: int
    text: str


def planted(number: int, statement: Statement, change: Change) -> Planted:
    return Planted(number, statement.start + change.start, statement.start + change.end, change.text)


def plant(text: str, mutants: Sequence[Planted]) -> str:
    """The Verilog with the switch in each module that has a mutant; mutants of one place, or within another's, may meet."""
    outer_first = sorted(mutants, key=lambda each: (each.start, -each.end, each.number))
    pieces = _nested(text, outer_first)
    for module in modules(text):
        end = text.index("\nendmodule", module.body)
        if any(module.body <= each.start < end for each in mutants):
            pieces.append((module.body, module.body, READ))
    for start, end, changed in sorted(pieces, reverse=True):
        text = text[:start] + changed + text[end:]
    return text


def _nested(text: str, mutants: list[Planted]) -> list[tuple[int, int, str]]:
    """Replacements that do not overlap; `mutants` by their start, the outer one first."""
    found = []
    at = 0
    while at < len(mutants):
        outer = mutants[at]
        inner = [each for each in mutants[at + 1 :] if each.start < outer.end]
        original = text[outer.start : outer.end]
        for start, end, changed in reversed(_nested(text, inner)):
            original = original[: start - outer.start] + changed + original[end - outer.start :]
        found.append((outer.start, outer.end, f"(({SWITCH} == {outer.number}) ? ({outer.text}) : ({original}))"))
        at += 1 + len(inner)
    return found
