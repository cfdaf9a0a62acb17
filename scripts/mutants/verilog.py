# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A file of generated Verilog as its modules; SpinalHDL writes one statement a line."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

# Numbers that SpinalHDL appends to names of its own, and a clock's two names, differ between files.
OWN_NAME = re.compile(r"_\d+\b")


@dataclass(frozen=True)
class Module:
    """One Verilog module of a file; lines count from 1."""

    name: str
    text: str
    start: int  # the first character in the file
    line: int  # the first line in the file

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def keys(self) -> list[tuple[str, int]]:
        """Each line without what differs between files, and how many such lines are before it."""
        seen: Counter[str] = Counter()
        found = []
        for line in map(common, self.lines):
            found.append((line, seen[line]))
            seen[line] += 1
        return found


def common(text: str) -> str:
    """Text without SpinalHDL's numbers and with one name for the clock."""
    return re.sub(r"\bclock\b", "clk", OWN_NAME.sub("_", text.strip()))


def modules(text: str) -> list[Module]:
    """The modules of a file in its order."""
    return [
        Module(found[1], found[0], found.start(), text.count("\n", 0, found.start()) + 1)
        for found in re.finditer(r"^module (\w+).*?^endmodule$", text, re.MULTILINE | re.DOTALL)
    ]
