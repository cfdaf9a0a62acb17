# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Mistakes in a C++ file: an operator, a number, a condition or a statement becomes another, in one place of one line.

The text is read as clang-format writes it: binary operators stand between spaces, those of a declaration do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SMALL = 16  # a larger number is twice as large or half of it: nobody need notice a limit of 65,537
STRINGS = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
    re.DOTALL | re.MULTILINE,
)
# Nothing that a test could notice: space that is reserved, people's words, the compiler's own checks.
UNSEEN = re.compile(
    r"\breserve\(|\bcapacity\(|shrink_to_fit|static_assert|log_\.write|\bstd::c(?:out|err)\b|f?printf\(|static_cast<void>|"
    r"\bchar \w+\["
)
# A relation becomes its boundary or its opposite.
OPERATORS: dict[str, dict[str, tuple[str, ...]]] = {
    "relation": {
        "<": ("<=", ">="),
        "<=": ("<", ">"),
        ">": (">=", "<="),
        ">=": (">", "<"),
        "==": ("!=",),
        "!=": ("==",),
    },
    "logic": {"&&": ("||",), "||": ("&&",)},
    "arithmetic": {
        "+": ("-",),
        "-": ("+",),
        "*": ("/",),
        "/": ("*",),
        "%": ("/",),
        "+=": ("-=",),
        "-=": ("+=",),
    },
    "bits": {"&": ("|",), "|": ("&",), "^": ("|",), "<<": (">>",), ">>": ("<<",), "|=": ("&=",), "&=": ("|=",)},
}
WORDS = {
    "true": "false",
    "false": "true",
    "min": "max",
    "max": "min",
    "min_element": "max_element",
    "max_element": "min_element",
    "front": "back",
    "back": "front",
}
OPERATOR = re.compile(r"(?<= )(?:<=|>=|==|!=|<<|>>|&&|\|\||\+=|-=|\|=|&=|[-+*/%&|^<>])(?= )")
NUMBER = re.compile(r"(?<![\w.'])\d[\d']*(?![\w.'])")
WORD = re.compile(r"\b(?:true|false)\b|(?<=::)(?:min|max)(?:_element)?(?=[(<])|(?<=\.)(?:front|back)(?=\()")
STEP = re.compile(r"\+\+|--")
NOT = re.compile(r"(?<=[ (])!(?=[\w(])")
IF = re.compile(r"\bif \(")
DECLARES = re.compile(
    r"(?:return|break|continue|using|const|constexpr|auto|static|throw|case|default|if|for|while|switch|else|do|goto|"
    r"thread_local|enum|struct|class|namespace|template|typedef|public|private|delete)\b|(?:[\w:]+(?:<.*>)?[ *&]+)\w+\s*[=({;]"
)


@dataclass(frozen=True)
class Mistake:
    """`start` to `end` of the text becomes `new`."""

    kind: str
    start: int
    end: int
    new: str

    def planted(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def masked(text: str) -> str:
    """The text with spaces in place of comments, strings and what is the preprocessor's."""
    return STRINGS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def listed(text: str) -> list[Mistake]:
    """All of the file, in its order."""
    code = masked(text)
    inside = _inside(code)
    found = [each for each in _everywhere(code) if inside[each.start] or _is_constant(code, each)]
    found = [each for each in found if not UNSEEN.search(_line(text, each.start))]
    return sorted(found, key=lambda each: (each.start, each.kind, each.new))


def function(text: str, at: int) -> str:
    """The name of the function around a place, as the layout tells: its head begins a line, or is a member's."""
    for line in reversed(masked(text[:at]).split("\n")):
        found = re.match(
            r"(?:  (?!if|for|while|switch|return|std::)|(?! ))\S.*?([~\w]+)\(.*?(?:\{|,$|\)( const)?$)", line
        )
        if found:
            return found[1]
    return ""


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : (text + "\n").index("\n", at)]


def _is_constant(code: str, mistake: Mistake) -> bool:
    line = _line(code, mistake.start)
    return mistake.kind in ("number", "arithmetic") and re.match(r"\s*(?:inline |static )*constexpr ", line) is not None


def _everywhere(code: str) -> Iterator[Mistake]:
    for found in OPERATOR.finditer(code):
        for kind, changes in OPERATORS.items():
            for new in changes.get(found[0], ()):
                yield Mistake(kind, found.start(), found.end(), new)
    for found in NUMBER.finditer(code):
        value = int(found[0].replace("'", ""))
        small = (value + 1, value - 1) if value else (1,)
        for other in small if value <= SMALL else (2 * value, value // 2):
            yield Mistake("number", found.start(), found.end(), str(other))
    for found in WORD.finditer(code):
        yield Mistake("word", found.start(), found.end(), WORDS[found[0]])
    for found in STEP.finditer(code):
        yield Mistake("arithmetic", found.start(), found.end(), "--" if found[0] == "++" else "++")
    for found in NOT.finditer(code):
        yield Mistake("condition", found.start(), found.end(), "")
    for found in IF.finditer(code):
        end = _closing(code, found.end() - 1)
        if ";" not in code[found.end() : end]:
            yield Mistake("condition", found.end(), found.end(), "!")
            for word in ("true", "false"):
                yield Mistake("condition", found.end(), end, word)
    for found in re.finditer(r"[^\n;{}]+;|\b(?:break|continue);", code):
        yield from _deleted(code, found.start(), found.end())


def _deleted(code: str, start: int, end: int) -> Iterator[Mistake]:
    """A statement of one line that declares nothing."""
    start += len(code[start:end]) - len(code[start:end].lstrip())
    statement = code[start:end]
    before = code[:start].rstrip()[-1:]
    control = re.match(r"(?:if|for|while) \(", statement)
    if control:  # on the line of its condition
        start = _closing(code, start + control.end() - 1) + 1
        start += len(code[start:end]) - len(code[start:end].lstrip())
        statement, before = code[start:end], ")"
    leaves = re.fullmatch(r"(?:break|continue|return);", statement) is not None
    whole = before in (";", "{", "}", ")", ":") and statement.count("(") == statement.count(")")
    if whole and len(statement) > 1 and (leaves or not DECLARES.match(statement)):
        yield Mistake("statement", start, end, ";")


def _closing(code: str, at: int) -> int:
    """The place of the parenthesis that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return len(code) - 1


def _inside(code: str) -> list[bool]:
    """For each character whether it is in a function's body."""
    bodies: list[bool] = []
    found, since = [], 0
    for at, each in enumerate(code):
        found.append(any(bodies))
        if each == "{":
            head = code[since:at]
            holds = re.search(r"\b(?:namespace|class|struct|enum|union|extern)\b", head) and "(" not in head
            bodies.append(")" in head and not holds)
        if each == "}" and bodies:
            bodies.pop()
        if each in ";{}":
            since = at + 1
    return found
