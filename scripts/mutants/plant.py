# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Writes mutants into Verilog so that one build has them all: `+mutant=K` of the simulation switches one on.

At its end the simulation prints which mutants would have changed something, had they been on: what the others do to a
test is known without a simulation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.mutants.kinds import Change
from scripts.mutants.verilog import Module, Statement, modules

SWITCH = "mutant_"
DIFFERS = re.compile(r"^mutant_differs (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Planted:
    """A mutant's place in a file; `differs` is true when its statement would do something else, empty where that is
    unknown."""

    number: int
    statement: Statement
    start: int  # in the file
    end: int
    text: str
    differs: str


def planted(number: int, module: Module, statement: Statement, change: Change) -> Planted:
    start, end = statement.start + change.start, statement.start + change.end
    changed = statement.text[: change.start] + f"({change.text})" + statement.text[change.end :]
    return Planted(number, statement, start, end, change.text, _differs(module, statement, changed))


def differing(log: str) -> frozenset[int]:
    """The mutants that a simulation's log names."""
    return frozenset(int(number) for number in DIFFERS.findall(log))


def plant(text: str, mutants: Sequence[Planted]) -> str:
    """The Verilog with the switch in each module that has a mutant; mutants of one place, or within another's, may
    meet."""
    pieces = _nested(text, sorted(mutants, key=lambda each: (each.start, -each.end, each.number)))
    for module in modules(text):
        end = text.index("\nendmodule", module.body)
        held = [each for each in mutants if module.body <= each.start < end]
        if not held:
            continue
        pieces.append((module.body, module.body, _head(held)))
        watched = [each for each in held if each.differs]
        nets = [each for each in watched if each.statement.how == "assign"]
        pieces.append((end, end, "".join(f"\n  always @(*) {_watch(each)}" for each in nets)))
        for each in watched:
            if each not in nets:  # where the statement stands, so that its conditions hold
                line = text.rindex("\n", 0, each.start) + 1
                pieces.append((line, line, f"{_watch(each)} "))
    for start, end, changed in sorted(pieces, key=lambda piece: piece[:2], reverse=True):
        text = text[:start] + changed + text[end:]
    return text


def _head(mutants: Sequence[Planted]) -> str:
    lines = [f"integer {SWITCH};", *(f"reg {_flag(each)};" for each in mutants), "initial begin", f"  {SWITCH} = 0;"]
    lines.append(f'  if (!$value$plusargs("mutant=%d", {SWITCH})) {SWITCH} = 0;')
    lines += [f"  {_flag(each)} = 1'b{int(not each.differs)};" for each in mutants]
    lines += ["end", "final begin"]
    lines += [f'  if ({_flag(each)}) $display("mutant_differs {each.number}");' for each in mutants]
    lines.append("end")
    return "\n" + "".join(f"  {line}\n" for line in lines)


def _flag(mutant: Planted) -> str:
    return f"mutant_differs_{mutant.number}"


def _watch(mutant: Planted) -> str:
    return f"if ({mutant.differs}) {_flag(mutant)} = 1'b1;"


def _differs(module: Module, statement: Statement, changed: str) -> str:
    """Both expressions as wide as what they are assigned to, since an operand as wide as that is computed otherwise."""
    root = module.tree(statement)
    signal = module.signals.get(statement.target)
    if statement.chained or root is None or not any(node.kind == "name" for node in root.walk()):
        return ""
    if statement.how == "if" or statement.select or signal is None or root.signed:
        return f"({changed}) !== ({statement.text})"
    zero = f"{signal.width}'h0"
    return f"({zero} | ({changed})) !== ({zero} | ({statement.text}))"


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
