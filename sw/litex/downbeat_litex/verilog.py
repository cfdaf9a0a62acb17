# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The ports of an elaborated core. Widths depend on its build, so they are read from the Verilog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PORT = re.compile(r"^\s*(input|output)\s+(?:wire|reg)\s+(?:\[(\d+):0\])?\s*(\w+)", re.MULTILINE)


class CoreRefused(Exception):
    """The Verilog is not that of a core for LiteX; the message is one line."""


@dataclass(frozen=True)
class Port:
    direction: str  # input, output
    width: int


def ports_of(verilog: Path, module: str) -> dict[str, Port]:
    """Raises CoreRefused when there is no such file, or not this module in it."""
    if not verilog.is_file():
        raise CoreRefused(f"{verilog}: no such file; make rtl PRESET=board,hostPorts=2 writes build/rtl/{module}.v")
    head = re.search(rf"^module {module} \((.*?)^\);", verilog.read_text(), re.DOTALL | re.MULTILINE)
    if head is None:
        raise CoreRefused(f"{verilog}: no module {module} in it; LiteX needs that top of the core")
    return {name: Port(direction, int(high or 0) + 1) for direction, high, name in PORT.findall(head[1])}
