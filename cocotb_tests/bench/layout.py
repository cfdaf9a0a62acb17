# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The build's layout (build/rtl/downbeat_layout.json): enumerations by name, so that no test copies a number."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "build" / "rtl" / "downbeat_layout.json"


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
