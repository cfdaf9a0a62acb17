# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The SystemRDL of the registers says what their JSON says, and the site shows each register."""

from __future__ import annotations

import json
import re

import pytest

from scripts.docs import registers
from scripts.lint.tools import ROOT, VERILOG

# Keywords of SystemRDL 2.0 that a register or field of ours could be called; a backslash makes a name of one.
KEYWORDS = (
    "all|bit|boolean|compact|default|encode|enum|external|false|field|inside|internal|level|mem|number|property|ref|reg|"
    "signal|string|this|true|type"
)


def test_system_rdl_has_the_registers_of_the_json() -> None:
    text = (VERILOG / "downbeat_registers.rdl").read_text()
    wanted = json.loads((VERILOG / "downbeat_registers.json").read_text())["registers"]
    found = {register.name: register for register in registers.read(text)}
    assert found.keys() == wanted.keys()
    for name, register in wanted.items():
        assert found[name].offset == register["offset"]
        fields = {
            field.name: {"offset": field.low, "width": field.high - field.low + 1, "access": field.access}
            for field in found[name].fields
        }
        stripped = {
            field: {key: part[key] for key in ("offset", "width", "access")}
            for field, part in register["fields"].items()
        }
        assert fields == stripped, name
        for field in found[name].fields:
            assert field.reset == register["fields"][field.name]["reset"] or field.access == "RO" and not field.constant


def test_no_name_of_system_rdl_is_a_keyword() -> None:
    text = (VERILOG / "downbeat_registers.rdl").read_text()
    assert not re.search(rf"^ +\}} (?:{KEYWORDS})(?:\[| @)", text, re.MULTILINE)


def test_the_site_shows_each_field_once() -> None:
    page = registers.shown((ROOT / "docs" / "reference" / "register-map.md").read_text())
    rows = re.findall(r"^\| 0x[0-9a-f]{3} \| `([\w.]+)`", page, re.MULTILINE)
    assert len(set(rows)) == len(rows) == sum(len(each.fields) for each in registers.read(registers.FILE.read_text()))
    assert "control.enable" in rows and registers.MARK not in page


def test_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="another form"):
        registers.read(registers.FILE.read_text().replace("    field {\n", "    field  {\n", 1))
