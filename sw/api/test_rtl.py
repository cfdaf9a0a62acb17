# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Enumerations and the path report have the numbers, names and widths of the RTL, by the layout that it generates."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sw.api.common import COMMON
from sw.api.limits import LAYOUT, words
from sw.api.model import Enumeration, Structure

PARSED: dict[str, Any] = json.loads(LAYOUT.read_text())
ENTRIES = {entry.name: entry for entry in COMMON.entries}
ENUMERATIONS = {"downbeat_state": "TcpState", "downbeat_pace": "StartPace", "downbeat_phase": "PathPhase"}


def member(field: str) -> str:
    """lossTime_ns is loss_time: an instant's only part is its ns."""
    return words(field.removeprefix("reference_").removesuffix("_ns"))


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_an_enumeration_is_the_rtl_s(name: str) -> None:
    listed = ENTRIES[name]
    assert isinstance(listed, Enumeration)
    numbers = {each.name.replace("_", "").lower(): each.number for each in listed.values}
    assert numbers == {value.lower(): number for value, number in PARSED["enums"][ENUMERATIONS[name]].items()}


def test_the_path_report_is_the_rtl_s() -> None:
    listed = ENTRIES["downbeat_path_report"]
    assert isinstance(listed, Structure)
    bits = {name: int(re.sub(r"\D", "", each.type)) for each in listed.members for name, _ in each.each()}
    fields = {member(name): field["width"] for name, field in PARSED["bundles"]["PathReport"]["fields"].items()}
    assert bits.keys() == fields.keys()
    assert all(bits[name] >= width for name, width in fields.items())
