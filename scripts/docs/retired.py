# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Words that only this project had, each with the field's word: one list for pages and for code."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Words and phrases as patterns. Pages, comments and messages have none of them, nor has a part of a name.
EVERYWHERE = {
    r"(?:un)?told": "given, reported, notified, received, known, sent",
    r"news": "readiness, event, update",
    r"questions?": "request",
    r"agendas?": "timer queue",
    r"appointments?": "entry (of the timer queue)",
    r"rooms?": "module, space",
    r"anew": "restart, again",
    r"strays?": "stateless reply, unexpected",
    r"whoever|nobody's|somebody else's|what is ours": "the name of the thing",
    r"patience": "user timeout",
    r"held against": "compared with, checked against",
    r"holds? .{1,40} against": "compares with, checks against",
}
# Prose may have these ("at most 16 bytes"); a name may not, but for `at_most` and `at_least`.
IN_NAMES = {
    r"answer(?:s|ed|ing)?": "response, reply, acknowledgment",
    r"ask(?:s|ed|er|ing)?": "request, requested",
    r"most": "max",
    r"least": "min",
}
# Files and variables that have other names.
REPLACED = {
    r"ROOM=": "MODULE=",
    r"run_room": "run_module",
    r"Rooms\.scala|EngineRooms": "Modules.scala, EngineModules",
}

BETTER = EVERYWHERE | IN_NAMES | REPLACED
_PROSE = re.compile("|".join(rf"(?<!\w)(?:{word})(?!\w)" for word in EVERYWHERE), re.IGNORECASE)
_REPLACED = re.compile("|".join(REPLACED))
_PART = re.compile("|".join(EVERYWHERE | IN_NAMES))
_NAME = re.compile(r"[A-Za-z_]\w*")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_AT = re.compile(r"(?<![A-Za-z])at_?(?:most|least)(?![a-z])|(?<=[a-z])At(?:Most|Least)(?![a-z])", re.IGNORECASE)


def in_prose(text: str) -> Iterator[str]:
    """Each retired word or phrase of a sentence."""
    for pattern in (_PROSE, _REPLACED):
        yield from (found[0] for found in pattern.finditer(text))


def in_names(text: str) -> Iterator[str]:
    """Each name of several parts that a sentence mentions, if a part is retired in prose too."""
    for name in _NAME.findall(text):
        parts = _PARTS.findall(name)
        if len(parts) > 1:
            yield from (name for part in parts if _PROSE.fullmatch(part))


def in_code(text: str) -> Iterator[str]:
    """Each name with a retired word among its parts (`told`, `toldWindow`, `inline_told`, `MOST_WORDS`).

    A name of five words or more is a sentence, as a test's is, and keeps the rules of prose.
    """
    for name in _NAME.findall(text):
        parts = _PARTS.findall(_AT.sub("", name))
        pattern = _PROSE if name.count("_") > 3 else _PART
        yield from (name for part in parts if pattern.fullmatch(part.lower()))


def better(found: str) -> str:
    """The field's word for what `in_prose` or `in_code` has found."""
    words = (found, *_PARTS.findall(found))
    return next(instead for word in words for retired, instead in BETTER.items() if re.fullmatch(retired, word, re.I))
