# SPDX-License-Identifier: BSD-2-Clause-Patent
"""cocotb_tests/rfc9293.toml has each requirement of RFC 9293 once, and the tests that it names are there."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from scripts.docs.requirements import FILE, read, shown
from scripts.lint.tools import ROOT

SCRIPTS = ROOT / "sim" / "adversarial" / "packetdrill" / "scripts"
# How many of each RFC 9293 appendix B has, numbered from 1.
NUMBERS = {"MUST": 69, "REC": 1, "SHLD": 31, "MAY": 18}
TESTED = {"", "in part"}  # "": kept, or used
UNTESTED = {"not kept", "not used", "does not apply"}
QUOTED = re.compile(r"`([^`]+)`")


def wrong(text: str) -> list[str]:
    """Mistakes of the list, a sentence each."""
    try:
        listed = read(text)
    except tomllib.TOMLDecodeError as error:
        return [f"not TOML: {error}"]
    found = [each.number for each in listed]
    wanted = [f"{kind}-{number}" for kind, count in NUMBERS.items() for number in range(1, count + 1)]
    complaints = [f"{number} is missing" for number in wanted if number not in found]
    complaints += [f"{number} is not a requirement of RFC 9293" for number in found if number not in wanted]
    for each in listed:
        complaints += [f"{each.number}: {reason}" for reason in _judged(each.status, each.here)]
    return complaints


def _judged(status: str, text: str) -> list[str]:
    tests = [name for name in QUOTED.findall(text) if name.endswith(".pkt") or "::" in name]
    complaints = [f"there is no test {name}" for name in tests if not _exists(name)]
    if status in TESTED and not tests:
        complaints.append(f"'{status or 'kept'}' and no test")
    if status in UNTESTED and not QUOTED.sub("", text).strip(" ;,-"):
        complaints.append(f"'{status}' and no reason")
    if status not in TESTED | UNTESTED:
        complaints.append(f"'{status}' is none of {', '.join(sorted((TESTED | UNTESTED) - {''}))}")
    if not status:
        complaints += [f"{name} is expected to fail" for name in tests if _exists(name) and _must_fail(name)]
    return complaints


def _exists(name: str) -> bool:
    if name.endswith(".pkt"):
        return (SCRIPTS / name).is_file()
    module, _, case = name.partition("::")
    return any(case in _functions(place / f"{module}.py") for place in (ROOT / "cocotb_tests", ROOT))


def _functions(module: Path) -> set[str]:
    """Names of the functions at the top of a module that pytest or cocotb runs."""
    if not module.is_file():
        return set()
    nodes = ast.parse(module.read_text()).body
    return {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        or isinstance(node, ast.AsyncFunctionDef)
        and any("cocotb.test" in ast.unparse(mark) for mark in node.decorator_list)
    }


def _must_fail(name: str) -> bool:
    return name.endswith(".pkt") and "--expected_failure" in (SCRIPTS / name).read_text()


def test_each_requirement_has_its_test_or_its_reason() -> None:
    complaints = wrong(FILE.read_text())
    assert not complaints, f"{FILE.relative_to(ROOT)}:\n" + "\n".join(complaints)


def test_the_site_shows_each_requirement_once() -> None:
    page = shown((ROOT / "docs" / "reference" / "rfc9293.md").read_text())
    rows = re.findall(r"^\| <span.*>(\w+-\d+)</span> \|", page, flags=re.MULTILINE)
    assert rows == [each.number for each in read(FILE.read_text())]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (r"\bMUST-7 = .+\n.+\n", "", "MUST-7 is missing"),
        (r"\bMUST-8 =", "MUST-7 =", "not TOML"),
        (r"\bMUST-69 =", "MUST-70 =", "MUST-70 is not a requirement of RFC 9293"),
        (r"`karn\.pkt`", "`gone.pkt`", "MUST-18: there is no test gone.pkt"),
        (r"(`rx/test_option_walker::)\w+", r"\1gone", "MUST-50: there is no test rx/test_option_walker::gone"),
        (r"`rx/test_option_walker::\w+`", "`rx/gone::gone`", "MUST-50: there is no test rx/gone::gone"),
        (r"`nagle_off\.pkt`", "surely", "MUST-17: 'kept' and no test"),
        (r"here = (\"`nagle_off)", r'status = "maybe", here = \1', "MUST-17: 'maybe' is none of"),
        (r"there is no default: [^\"]*", "- ", "MUST-28: 'does not apply' and no reason"),
    ],
)
def test_a_wrong_list_is_found(old: str, new: str, reason: str) -> None:
    text, changed = re.subn(old, new, FILE.read_text(), count=1)
    assert changed and any(complaint.startswith(reason) for complaint in wrong(text)), wrong(text)


def test_nothing_that_is_kept_rests_on_an_expected_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nagle_off.pkt").write_text('--expected_failure="not yet"\n')
    monkeypatch.setattr(sys.modules[__name__], "SCRIPTS", tmp_path)
    assert "MUST-17: nagle_off.pkt is expected to fail" in wrong(FILE.read_text())
