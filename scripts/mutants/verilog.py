# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A file of generated Verilog as modules, signals and statements; SpinalHDL writes one statement a line."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from scripts.mutants.expressions import Node, NotUnderstood, Signal, parse

DECLARED = re.compile(
    r"^\s*(?:\(\*.*?\*\)\s*)?(?:(?:input|output|inout)\s+)?(?P<kind>wire|reg)\s+(?P<signed>signed\s+)?(?:\[(?P<top>\d+):0\]\s*)?"
    r"(?P<name>\w+)\s*(?P<memory>\[\s*\d+\s*:\s*\d+\s*\])?\s*(?:/\*.*\*/\s*)?[,;]?\s*$"
)
TARGET = r"(?P<target>[A-Za-z_]\w*)(?P<select>(?:\[[^\]]*\])*)"
ASSIGN = re.compile(rf"^\s*assign\s+{TARGET}\s*=\s*(?P<value>.*);\s*(?://.*)?$")
WRITE = re.compile(rf"^\s*{TARGET}\s*(?P<how><=|=)\s*(?P<value>.*);\s*(?://.*)?$")
CONDITION = re.compile(r"^\s*(?:end\s+else\s+)?if\s*\((?P<value>.*)\)\s*begin\s*(?://.*)?$")
RESET = re.compile(r"^\s*if\s*\(\s*!?\s*\w*reset\w*\s*\)\s*begin")
BLOCKS = (("initial begin", "end"), ("function", "endfunction"), ("generate", "endgenerate"))


@dataclass(frozen=True)
class Statement:
    """An expression that can be changed: what a net is assigned, what is written, or an `if`'s condition."""

    line: int  # of the file, from 1
    how: str  # assign, =, <=, if
    target: str  # the name that is written; of a condition the condition's own text
    select: str  # which bits of it
    start: int  # of the expression, in the file's text
    text: str  # the expression
    in_reset: bool
    chained: bool  # an `else if`
    key: tuple[str, int]  # the line without the numbers of SpinalHDL's own names, and the how many-th such line


@dataclass
class Module:
    """One Verilog module of a file."""

    name: str
    body: int  # where its text goes on behind its ports
    signals: dict[str, Signal] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)

    @property
    def scala_name(self) -> str:
        """Without the number of a variant."""
        return re.sub(r"_\d+$", "", self.name)

    def tree(self, statement: Statement) -> Node | None:
        """The statement's expression; None where it is not understood."""
        try:
            return parse(statement.text, self.signals)
        except NotUnderstood:
            return None

    @functools.cached_property
    def by_key(self) -> dict[tuple[str, int], Statement]:
        return {statement.key: statement for statement in self.statements}

    @functools.cached_property
    def repeated(self) -> Counter[str]:
        """How often each line is there, without its numbers."""
        return Counter(statement.key[0] for statement in self.statements)


def modules(text: str) -> list[Module]:
    """The modules of a file in its order."""
    found = []
    for start in re.finditer(r"^module\s+(\w+)", text, re.MULTILINE):
        end = text.index("\nendmodule", start.start())
        found.append(_module(text, start[1], start.start(), end))
    return found


def _module(text: str, name: str, start: int, end: int) -> Module:
    module = Module(name, text.index(");", start) + 2)
    seen: Counter[str] = Counter()
    for line, at, content, in_reset in _lines(text, start, end):
        if declared := DECLARED.match(content):
            width = int(declared["top"] or 0) + 1
            memory = declared["memory"] is not None
            signal = Signal(width, declared["kind"] == "reg", memory, declared["signed"] is not None)
            module.signals[declared["name"]] = signal
            continue
        found = ASSIGN.match(content) or WRITE.match(content) or CONDITION.match(content)
        if not found or "$" in content.replace("$signed", "").replace("$unsigned", ""):
            continue
        groups = found.groupdict()
        how = groups.get("how") or ("assign" if "target" in groups else "if")
        normal = re.sub(r"_\d+\b", "_", content.strip())
        key = (normal, seen[normal])
        seen[normal] += 1
        module.statements.append(
            Statement(
                line,
                how,
                groups.get("target") or groups["value"],
                groups.get("select") or "",
                at + found.start("value"),
                found["value"],
                in_reset,
                content.lstrip().startswith("end"),
                key,
            )
        )
    return module


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int, str, bool]]:
    """Number, place and content of the lines that are logic, and whether a reset rules there."""
    number = text.count("\n", 0, start)
    at, depth, closing, block_indent, reset_indent = start, 0, "", 0, -1
    for content in text[start:end].split("\n"):
        number += 1
        here, at = at, at + len(content) + 1
        stripped = content.strip()
        indent = len(content) - len(content.lstrip())
        if stripped.startswith(("`ifdef", "`ifndef")):
            depth += 1
        elif stripped.startswith("`endif"):
            depth -= 1
        elif depth:
            pass
        elif closing:
            if stripped == closing and indent == block_indent:
                closing = ""
        elif opened := next((last for first, last in BLOCKS if stripped.startswith(first)), ""):
            closing, block_indent = opened, indent
        elif stripped.startswith(("parameter", "localparam", "integer", "genvar", "for")):
            pass
        else:
            if reset_indent >= 0 and indent <= reset_indent:
                reset_indent = -1
            elif RESET.match(content):
                reset_indent = indent
                continue
            yield number, here, content, reset_indent >= 0
