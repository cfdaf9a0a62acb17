# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TCP options as a script writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass


class ScriptError(Exception):
    """A script that cannot be read; the text names the file, the line and what to change."""


@dataclass(frozen=True)
class Option:
    """`nop`, `eol`, `sackOK`, `mss 1460`, `wscale 5`, `TS val 1 ecr 2`, `sack 1:2 5:6`, `raw fd04beef`; None: any
    value."""

    name: str
    values: tuple[int | None, ...] = ()
    raw: bytes = b""

    def __str__(self) -> str:
        shown = ["*" if value is None else str(value) for value in self.values]
        if self.name == "TS":
            return f"TS val {shown[0]} ecr {shown[1]}"
        if self.name == "sack":
            return " ".join(["sack", *(f"{left}:{right}" for left, right in zip(shown[::2], shown[1::2], strict=True))])
        return " ".join([self.name, *shown, *([self.raw.hex()] if self.raw else [])])

    def agrees(self, came: Option) -> bool:
        """Whether it is what this one expects."""
        if (self.name, self.raw, len(self.values)) != (came.name, came.raw, len(came.values)):
            return False
        slack = (1, 0) if self.name == "TS" else (0,) * len(self.values)  # a tick may end between two segments
        pairs = zip(self.values, came.values, slack, strict=True)
        return all(wanted is None or value is None or abs(wanted - value) <= ticks for wanted, value, ticks in pairs)


def parsed_options(text: str) -> tuple[Option, ...]:
    """The text between < and >."""
    return tuple(_parsed(part.strip()) for part in text.split(",") if part.strip())


def _parsed(text: str) -> Option:
    words = text.split()
    name, values = words[0], words[1:]
    if name in ("nop", "eol", "sackOK") and not values:
        return Option(name)
    if name in ("mss", "wscale") and len(values) == 1 and values[0].isdecimal():
        return Option(name, (int(values[0]),))
    if match := re.fullmatch(r"TS val (\d+|\*) ecr (\d+|\*)", text):
        return Option("TS", tuple(None if value == "*" else int(value) for value in match.groups()))
    if name == "sack" and values and all(re.fullmatch(r"\d+:\d+", block) for block in values):
        return Option("sack", tuple(int(edge) for block in values for edge in block.split(":")))
    if name == "raw" and len(values) == 1 and re.fullmatch(r"(?:[0-9a-f]{2})+", values[0]):
        return Option("raw", raw=bytes.fromhex(values[0]))
    raise ScriptError(
        f"'{text}' is not an option: nop, eol, sackOK, mss N, wscale N, TS val N ecr N, sack L:R L:R, raw HEX"
    )
