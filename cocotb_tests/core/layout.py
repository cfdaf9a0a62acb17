# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Words of the core's command, notification and trace ports, packed and unpacked by the generated layout."""

from __future__ import annotations

import functools
import json
from typing import Any

from cocotb_tests.bench.layout import FILE

LAYOUT = FILE


@functools.cache
def layout() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(LAYOUT.read_text())
    return loaded


def number(name: str) -> int:
    """A number of the build, such as `sendBufferBytes`."""
    return int(layout()["numbers"][name])


def policy(kind: str, name: str) -> int:
    """The number of a policy: `kind` is StartupPolicy or SteadyPolicy."""
    return int(layout()["policies"][kind][name])


def pack(bundle: str, **values: int | str) -> int:
    """A word of `bundle`; a field that is not given is 0, an enum's value is its name."""
    fields = layout()["bundles"][bundle]["fields"]
    word = 0
    for name, value in values.items():
        field = fields[name]
        raw = layout()["enums"][field["enum"]][value] if isinstance(value, str) else value
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
