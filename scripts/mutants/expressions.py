# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Verilog expressions as SpinalHDL writes them: a tree in which each node knows its place in the text, width and
sign."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+)?'s?[bdhoBDHO][0-9a-fA-FxXzZ_]+|\d+)|(?P<name>\$?[A-Za-z_][\w$]*)"
    r"|(?P<operator><<<|>>>|===|!==|<=|>=|==|!=|&&|\|\||<<|>>|\+:|-:|[-+*/%<>!~&|^?:(){}\[\],]))"
)
LITERAL = re.compile(r"(?:(?P<width>\d+)'(?P<signed>s?)(?P<base>[bdhoBDHO]))?(?P<digits>[0-9a-fA-F_]+)$")
BASES = {"b": 2, "o": 8, "d": 10, "h": 16}

# Binary operators by how tightly they bind, the loosest first.
LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!=", "===", "!=="),
    ("<", "<=", ">", ">="),
    ("<<", ">>", "<<<", ">>>"),
    ("+", "-"),
    ("*", "/", "%"),
)
COMPARISONS = (*LEVELS[5], *LEVELS[6])
BOOLEAN = (*LEVELS[0], *LEVELS[1], *COMPARISONS)
SHIFTS = LEVELS[7]


class NotUnderstood(Exception):
    """An expression that this reader does not know."""


@dataclass(frozen=True)
class Signal:
    """A declared net or register: `width` bits; a memory has many words."""

    width: int
    register: bool = False
    memory: bool = False
    signed: bool = False


@dataclass
class Node:
    """`kind`: name, number, unary, binary, ternary, concat, repeat, select, call. `start` and `end`: its place in the
    text."""

    kind: str
    start: int
    end: int
    text: str
    operator: str = ""
    children: list[Node] = field(default_factory=list)
    width: int | None = None  # bits, None where it is not known
    signed: bool = False
    fixed: bool = False  # inside a bound or a count, which must stay a constant

    def walk(self) -> Iterator[Node]:
        """Itself and all below, in a fixed order."""
        yield self
        for child in self.children:
            yield from child.walk()


def parse(text: str, signals: Mapping[str, Signal]) -> Node:
    """The tree of an expression that takes up the whole text."""
    return _Reader(text, signals).whole()


def number(text: str) -> tuple[int | None, int]:
    """Width (None without one) and value of a literal; refuses x and z."""
    found = LITERAL.match(text)
    if not found:
        raise NotUnderstood(text)
    base = BASES[(found["base"] or "d").lower()]
    return int(found["width"]) if found["width"] else None, int(found["digits"].replace("_", ""), base)


class _Reader:
    def __init__(self, text: str, signals: Mapping[str, Signal]) -> None:
        self.text, self.signals = text, signals
        self.tokens: list[tuple[str, str, int, int]] = []
        at = 0
        stripped = text.rstrip()
        while at < len(stripped):
            found = TOKEN.match(text, at)
            if not found:
                raise NotUnderstood(text)
            kind = str(found.lastgroup)
            self.tokens.append((kind, found[kind], found.start(kind), found.end(kind)))
            at = found.end()
        self.at = 0

    def whole(self) -> Node:
        node = self.ternary()
        if self.at != len(self.tokens):
            raise NotUnderstood(self.text)
        return node

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> tuple[str, str, int, int]:
        if self.at >= len(self.tokens) or (wanted and self.peek() != wanted):
            raise NotUnderstood(self.text)
        self.at += 1
        return self.tokens[self.at - 1]

    def node(self, kind: str, start: int, end: int, operator: str = "", children: list[Node] | None = None) -> Node:
        return Node(kind, start, end, self.text[start:end], operator, children or [])

    def ternary(self) -> Node:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.take()
        yes = self.ternary()
        self.take(":")
        no = self.ternary()
        node = self.node("ternary", condition.start, no.end, "?", [condition, yes, no])
        node.width, node.signed = _widest(yes, no), yes.signed and no.signed
        return node

    def binary(self, level: int) -> Node:
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            operator = self.take()[1]
            right = self.binary(level + 1)
            node = self.node("binary", left.start, right.end, operator, [left, right])
            if operator in BOOLEAN:
                node.width = 1
            elif operator in SHIFTS:
                node.width, node.signed = left.width, left.signed
            else:
                node.width, node.signed = _widest(left, right), left.signed and right.signed
            left = node
        return left

    def unary(self) -> Node:
        if self.peek() in ("!", "~", "-", "+", "&", "|", "^"):
            _, operator, start, _ = self.take()
            child = self.unary()
            node = self.node("unary", start, child.end, operator, [child])
            kept = operator in ("~", "-", "+")
            node.width, node.signed = (child.width, child.signed) if kept else (1, False)
            return node
        return self.selected(self.primary())

    def primary(self) -> Node:
        kind, text, start, end = self.take()
        if kind == "number":
            node = self.node("number", start, end)
            if "x" not in text.lower() and "z" not in text.lower():
                node.width = number(text)[0]
            node.signed = "'s" in text or "'" not in text
            return node
        if kind == "name":
            return self.named(text, start, end)
        if text == "(":
            # Brackets belong to what they enclose: the node is the inner one, its place the outer.
            inner = self.ternary()
            inner.start, inner.end = start, self.take(")")[3]
            inner.text = self.text[inner.start : inner.end]
            return inner
        if text == "{":
            return self.braces(start)
        raise NotUnderstood(self.text)

    def named(self, text: str, start: int, end: int) -> Node:
        if self.peek() == "(":
            self.take()
            arguments = self.listed(")")
            node = self.node("call", start, self.take(")")[3], text, arguments)
            if text in ("$signed", "$unsigned") and len(arguments) == 1:
                node.width, node.signed = arguments[0].width, text == "$signed"
            return node
        node = self.node("name", start, end)
        signal = self.signals.get(text)
        if signal:
            node.width, node.signed = signal.width, signal.signed
        return node

    def braces(self, start: int) -> Node:
        first = self.ternary()
        if self.peek() == "{":
            _fix(first)
            self.take()
            parts = self.listed("}")
            self.take("}")
            node = self.node("repeat", start, self.take("}")[3], "{{", [first, *parts])
            width = _sum(parts)
            node.width = width * number(first.text)[1] if width is not None and first.kind == "number" else None
            return node
        parts = [first]
        if self.peek() == ",":
            self.take()
            parts += self.listed("}")
        node = self.node("concat", start, self.take("}")[3], "{", parts)
        node.width = _sum(parts)
        return node

    def listed(self, end: str) -> list[Node]:
        found: list[Node] = []
        while self.peek() != end:
            if found:
                self.take(",")
            found.append(self.ternary())
        return found

    def selected(self, node: Node) -> Node:
        while self.peek() == "[":
            self.take()
            first = self.ternary()
            operator = self.peek()
            children = [node, first]
            if operator in (":", "+:", "-:"):
                self.take()
                second = self.ternary()
                children.append(second)
                _fix(second)
                if operator == ":":
                    _fix(first)
            elif first.kind == "number":
                _fix(first)
            signal = self.signals.get(node.text) if node.kind == "name" else None
            whole = self.node("select", node.start, self.take("]")[3], operator, children)
            whole.width = self.selected_width(signal, operator, children)
            node = whole
        return node

    @staticmethod
    def selected_width(signal: Signal | None, operator: str, children: list[Node]) -> int | None:
        if operator == "]":
            return signal.width if signal and signal.memory else 1
        bounds = children[1:]
        if any(bound.kind != "number" for bound in (bounds[1:] if operator != ":" else bounds)):
            return None
        last = number(bounds[1].text)[1]
        return last if operator != ":" else number(bounds[0].text)[1] - last + 1


def _fix(node: Node) -> None:
    for each in node.walk():
        each.fixed = True


def _widest(*nodes: Node) -> int | None:
    widths = [node.width for node in nodes]
    return None if None in widths else max(width for width in widths if width is not None)


def _sum(nodes: list[Node]) -> int | None:
    widths = [node.width for node in nodes]
    return None if None in widths else sum(width for width in widths if width is not None)
