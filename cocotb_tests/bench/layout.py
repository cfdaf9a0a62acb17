# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The build's layout (build/rtl/downbeat_layout.json): enumerations by name, so that no test copies a number."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

# Where the runner tells the simulation of another build than build/rtl its layout.
LAYOUT_VARIABLE = "DOWNBEAT_LAYOUT"
FILE = Path(
    os.environ.get(LAYOUT_VARIABLE) or Path(__file__).resolve().parents[2] / "build" / "rtl" / "downbeat_layout.json"
)


@functools.cache
def layout() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(FILE.read_text())
    return read


def number(enumeration: str, element: str) -> int:
    """number("CloseReason", "reset")"""
    value: int = layout()["enums"][enumeration][element]
    return value


def widths(bundle: str, prefix: str) -> dict[str, int]:
    """The bits of each field of a bundle whose name begins so, by the rest of its name."""
    fields = layout()["bundles"][bundle]["fields"]
    return {name.removeprefix(prefix): field["width"] for name, field in fields.items() if name.startswith(prefix)}
