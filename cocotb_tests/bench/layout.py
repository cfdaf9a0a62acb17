# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The build's layout (build/rtl/downbeat_layout.json): numbers, enumerations, ports' words; so that no test copies a
number."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

# The variable in which the runner passes the layout of a build other than build/rtl.
LAYOUT_VARIABLE = "DOWNBEAT_LAYOUT"
FILE = Path(
    os.environ.get(LAYOUT_VARIABLE) or Path(__file__).resolve().parents[2] / "build" / "rtl" / "downbeat_layout.json"
)


@functools.cache
def layout() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(FILE.read_text())
    return read


def number(name: str) -> int:
    """A number of the build, such as `sendBufferBytes`."""
    return int(layout()["numbers"][name])


def element(enumeration: str, name: str) -> int:
    """element("CloseReason", "reset")"""
    return int(layout()["enums"][enumeration][name])


def policy(kind: str, name: str) -> int:
    """The number of a policy: `kind` is StartupPolicy or SteadyPolicy."""
    return int(layout()["policies"][kind][name])


def widths(bundle: str, prefix: str) -> dict[str, int]:
    """The bits of each field of a bundle whose name begins so, by the rest of its name."""
    fields = layout()["bundles"][bundle]["fields"]
    return {name.removeprefix(prefix): field["width"] for name, field in fields.items() if name.startswith(prefix)}


def pack(bundle: str, **values: int | str) -> int:
    """A word of `bundle`; a field that is not given is 0, an enum's value is its name."""
    fields = layout()["bundles"][bundle]["fields"]
    word = 0
    for name, value in values.items():
        field = fields[name]
        raw = element(field["enum"], value) if isinstance(value, str) else value
        if not 0 <= raw < 1 << field["width"]:
            raise ValueError(f"{bundle}.{name}: {raw} does not fit {field['width']} bits")
        word |= raw << field["offset"]
    return word


def unpack(bundle: str, word: int) -> dict[str, Any]:
    """All fields of a word; an enum's value by name."""
    values: dict[str, Any] = {}
    for name, field in layout()["bundles"][bundle]["fields"].items():
        raw = word >> field["offset"] & (1 << field["width"]) - 1
        values[name] = _names(field["enum"]).get(raw, raw) if "enum" in field else raw
    return values


@functools.cache
def _names(enum: str) -> dict[int, str]:
    return {value: name for name, value in layout()["enums"][enum].items()}
