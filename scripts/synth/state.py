# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Memory of a connection: the bits of a module's memories that grow with the number of flows."""

from __future__ import annotations

import re
from collections import Counter

MODULE = re.compile(r"^module (\w+) \(.*?^endmodule", re.MULTILINE | re.DOTALL)
INSTANCE = re.compile(r"^  (?:\(\*.*?\*\) )?(\w+) (\w+) \($", re.MULTILINE)
MEMORY = re.compile(r"\breg(?: signed)? (?:\[(\d+):0\] )?(\w+) \[0:(\d+)\];")
NAMELESS = "_zz_"  # delay lines: their numbers change from one build to the next


def memories(verilog: str, top: str) -> dict[str, tuple[int, int]]:
    """Width and depth of each memory, by the instances that it stands in."""
    modules = {found[1]: found[0] for found in MODULE.finditer(verilog)}
    found: dict[str, tuple[int, int]] = {}

    def walk(module: str, place: str) -> None:
        text = modules[module]
        for high, name, last in MEMORY.findall(text):
            if not name.startswith(NAMELESS):
                found[place + name] = (int(high or 0) + 1, int(last) + 1)
        for inner, name in INSTANCE.findall(text):
            if inner in modules:
                walk(inner, f"{place}{name}.")

    walk(top, "")
    return found


def bits_per_flow(of: dict[str, tuple[int, int]], of_twice: dict[str, tuple[int, int]], flows: int) -> int:
    """From the memories of a build and those of one with twice the flows: what each of the additional flows takes.

    A word's width is that of the smaller build, so that indices which grow by a bit do not count for all flows; a
    memory that only the larger one has (a level of a tree) counts as it is.
    """
    grown: Counter[str] = Counter()
    for name, (width, depth) in of_twice.items():
        narrow, shallow = of.get(name, (width, 0))
        grown[name] = min(narrow, width) * max(depth - shallow, 0)
    return round(grown.total() / flows)
