# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The installed headers are the reference of the C interface: each call and each error has its meaning beside it."""

from __future__ import annotations

import re

from sw.tests.driver.conftest import ROOT

INCLUDE = ROOT / "sw" / "include"
TYPES = (INCLUDE / "downbeat_types.h").read_text()
HEADERS = (ROOT / "sw" / "driver" / "include" / "downbeat.h", INCLUDE / "downbeat_sim.h", INCLUDE / "downbeat_texts.h")
CALLS = TYPES + "".join(header.read_text() for header in HEADERS)
PROTOTYPE = re.compile(r"^(?!typedef)\w[\w ]*[ *](downbeat_\w+)\(", re.MULTILINE)
ERROR = re.compile(r"^  DOWNBEAT_(\w+) = -\d+,?(.*)$", re.MULTILINE)


def test_a_call_is_described() -> None:
    calls = list(PROTOTYPE.finditer(CALLS))
    assert len(calls) > 40
    before = {each.group(1): CALLS[: each.start()] for each in calls}
    without = [
        name for name, text in before.items() if not text.endswith("*/\n") or "/**" not in text.rsplit("\n\n", 1)[-1]
    ]
    assert not without


def test_an_error_has_its_meaning() -> None:
    errors = ERROR.findall(TYPES)
    assert len(errors) == 25
    assert not [name for name, rest in errors if not re.fullmatch(r" +/\* .+ \*/", rest)]


def test_errors_that_descriptions_name_are_there() -> None:
    comments = " ".join(re.findall(r"/\*.*?\*/", CALLS, re.DOTALL))
    named = set(re.findall(r"(?<!\w)[A-Z]+_[A-Z_]+", comments.replace("DOWNBEAT_", "x")))
    assert "WOULD_BLOCK" in named and named <= {name for name, _ in ERROR.findall(TYPES)}
