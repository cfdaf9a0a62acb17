# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Pages, headers and lists that are committed are those that the RTL makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.docs import ports
from scripts.lint.tools import ROOT, VERILOG

COMMITTED = {
    "downbeat_registers.h": "sw/include/downbeat_registers.h",
    "downbeat_event.h": "sw/include/downbeat_event.h",
    "downbeat_host.h": "sw/include/downbeat_host.h",
    "downbeat_policies.h": "sw/include/downbeat_policies.h",
    "downbeat_layout.json": "sw/python/downbeat_toe/downbeat_layout.json",
    "event_fields.py": "sw/python/downbeat_toe/event_fields.py",
}


@pytest.mark.parametrize("name", COMMITTED)
def test_generated_files(name: str) -> None:
    if not (VERILOG / "default.stamp").exists():
        pytest.skip("build/rtl holds another preset than `default`")
    committed = ROOT / Path(COMMITTED[name])
    fresh = committed.exists() and committed.read_text() == (VERILOG / name).read_text()
    assert fresh, f"{COMMITTED[name]} is stale: run `make generate` and commit it"


def test_the_ports_page() -> None:
    if not (VERILOG / "default.stamp").exists():
        pytest.skip("build/rtl holds another preset than `default`")
    page = ports.PAGE.read_text()
    assert page.count("<!-- ports of ") == 5
    assert ports.written(page) == page, "docs/reference/ports.md is stale: run `make generate` and commit it"
