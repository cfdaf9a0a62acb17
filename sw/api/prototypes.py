# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The functions of a hand-written header and their types, by its text: one prototype a function, as `make format` leaves
them."""

from __future__ import annotations

import re
from dataclasses import dataclass

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
PROTOTYPE = re.compile(r"^(?!typedef|#|extern)((?:const )?\w+(?: \w+)* [*]*)(downbeat_\w+)\(([^;{}]*)\);", re.MULTILINE)


@dataclass(frozen=True)
class Prototype:
    name: str
    result: str
    parameters: tuple[str, ...]


def prototypes(header: str) -> list[Prototype]:
    """Functions whose parameters a type alone describes; one that takes a function by an unnamed type is left out."""
    text = COMMENT.sub("", header)
    return [
        Prototype(name, result.strip(), _parameters(" ".join(parameters.split())))
        for result, name, parameters in PROTOTYPE.findall(text)
        if "(*" not in parameters
    ]


def _parameters(text: str) -> tuple[str, ...]:
    """Types alone: "const uint8_t mac[6]" is "const uint8_t *"."""
    if text in {"", "void"}:
        return ()
    return tuple(_without_name(each) for each in text.split(", "))


def _without_name(parameter: str) -> str:
    found = re.fullmatch(r"(.*?)(\w+)(\[\w*\])?", parameter)
    if not found or not found[1].strip():
        raise ValueError(f"{parameter!r} is no parameter with a name")
    return found[1].strip() + (" *" if found[3] else "")
