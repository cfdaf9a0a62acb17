# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The kinds of mistakes, and where in a statement each can be made."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from scripts.mutants.expressions import Node, number
from scripts.mutants.verilog import Module, Statement

OPPOSITE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "==="}
KINDS = ("comparison", "constant", "condition", "arms", "stale", "width", "wrap")


@dataclass(frozen=True)
class Change:
    """One mistake: the expression's text from `start` to `end` becomes `text`. `node` is its place in the tree,
    `choice` tells apart the mistakes of one kind there (a bit, an operand)."""

    kind: str
    node: int
    choice: int
    start: int
    end: int
    text: str


def changes(module: Module, statement: Statement, kinds: Collection[str] = KINDS) -> Iterator[Change]:
    """Every mistake of these kinds that can be made in the statement."""
    root = module.tree(statement)
    if root is None:
        return
    nodes = list(root.walk())
    padding = {id(child) for node in nodes if node.kind == "concat" for child in node.children if _zero(child)}
    for at, node in enumerate(nodes):
        if node.fixed:
            continue
        of_node = {"comparison": _comparison, "condition": _condition, "arms": _arms, "wrap": _wrap}
        if id(node) not in padding:
            of_node["constant"] = _constant
        made = [each for kind, make in of_node.items() if kind in kinds for each in make(node)]
        if node is root and "stale" in kinds:
            made += _stale(module, statement)
        if node is root and "width" in kinds:
            made += _width(module, statement, node)
        for kind, choice, text in made:
            if _plain(text) != _plain(node.text):
                yield Change(kind, at, choice, node.start, node.end, text)


def _comparison(node: Node) -> Iterator[tuple[str, int, str]]:
    """Less becomes less or equal, equal becomes unequal, and the other way round."""
    if node.kind == "binary" and node.operator in OPPOSITE:
        left, right = node.children
        yield "comparison", 0, f"({left.text} {OPPOSITE[node.operator]} {right.text})"


def _condition(node: Node) -> Iterator[tuple[str, int, str]]:
    """One operand of `&&` or `||` is dropped."""
    if node.kind == "binary" and node.operator in ("&&", "||"):
        for choice, kept in enumerate(node.children):
            yield "condition", choice, kept.text


def _arms(node: Node) -> Iterator[tuple[str, int, str]]:
    """The arms of `?:` are swapped."""
    if node.kind == "ternary":
        condition, yes, no = node.children
        if _plain(yes.text) != _plain(no.text):
            yield "arms", 0, f"({condition.text} ? {no.text} : {yes.text})"


def _constant(node: Node) -> Iterator[tuple[str, int, str]]:
    """A constant of at least two bits is one more or one less; it wraps as its width says."""
    if node.kind != "number" or node.width is None or node.width < 2:
        return
    width, value = number(node.text)
    sign = "s" if node.signed else ""
    for choice, by in enumerate((1, -1)):
        yield "constant", choice, f"{width}'{sign}h{(value + by) % (1 << node.width):x}"


def _wrap(node: Node) -> Iterator[tuple[str, int, str]]:
    """The carry (or borrow) into one bit of a sum is lost.

    That carry is the bit of `a ^ b ^ (a + b)`; taking it away from the sum leaves the upper bits as if it had not come.
    """
    if node.kind != "binary" or node.operator not in ("+", "-") or node.width is None:
        return
    left, right = (f"({child.text})" for child in node.children)
    whole = f"({left} {node.operator} {right})"
    back = "-" if node.operator == "+" else "+"
    sign = "s" if node.signed else ""
    for bit in range(1, node.width):
        carry = f"(({left} ^ {right} ^ {whole}) & {node.width}'{sign}h{1 << bit:x})"
        yield "wrap", bit, f"({whole} {back} {carry})"


def _stale(module: Module, statement: Statement) -> Iterator[tuple[str, int, str]]:
    """A register keeps its value when it should take another."""
    signal = module.signals.get(statement.target)
    if statement.how == "<=" and not statement.in_reset and signal and signal.register and not signal.memory:
        yield "stale", 0, statement.target + statement.select


def _width(module: Module, statement: Statement, root: Node) -> Iterator[tuple[str, int, str]]:
    """One bit of what a net or register of several bits is given is always 0 (an even choice) or always 1."""
    signal = module.signals.get(statement.target)
    if statement.how == "if" or statement.select or not signal or signal.memory or signal.width < 2:
        return
    constant = number(root.text)[1] if _is_known(root) else None
    sign = "s" if root.signed else ""
    for bit in range(signal.width):
        mask = 1 << bit
        if constant is None or constant & mask:
            others = ((1 << signal.width) - 1) ^ mask
            yield "width", 2 * bit, f"(({root.text}) & {signal.width}'{sign}h{others:x})"
        if constant is None or not constant & mask:
            yield "width", 2 * bit + 1, f"(({root.text}) | {signal.width}'{sign}h{mask:x})"


def _is_known(node: Node) -> bool:
    return node.kind == "number" and not set("xzXZ") & set(node.text)


def _zero(node: Node) -> bool:
    """Zeros before or behind a value only widen it."""
    return _is_known(node) and number(node.text)[1] == 0


def _plain(text: str) -> str:
    """Without spaces and outer brackets: what is the same so is no mistake."""
    text = "".join(text.split())
    while text.startswith("(") and text.endswith(")") and _encloses(text):
        text = text[1:-1]
    return text


def _encloses(text: str) -> bool:
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1
    return False
