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
