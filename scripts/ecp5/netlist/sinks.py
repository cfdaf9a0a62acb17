# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Sinks of the nets of a flat design, in Yosys's JSON."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple


class Sink(NamedTuple):
    cell: str  # "": the module itself
    port: str


def sinks_of(module: dict[str, Any]) -> dict[int, list[Sink]]:
    """By net the inputs that take it, and the module's own ports."""
    sinks: dict[int, list[Sink]] = defaultdict(list)
    for name, cell in module["cells"].items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] != "output":
                for bit in bits:
                    sinks[bit].append(Sink(name, port))
    for port, of in module["ports"].items():
        for bit in of["bits"]:
            sinks[bit].append(Sink("", port))
    return sinks
