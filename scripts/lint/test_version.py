# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One version for core, Python package, pages and citation."""

from __future__ import annotations

import re
import tomllib

from downbeat_toe.pages import version as shown

from scripts.lint.tools import ROOT


def found(path: str, pattern: str) -> str:
    match = re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)
    assert match, f"{path} has no version"
    return match[1]


def test_all_have_the_version_of_the_python_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    core = found("rtl/downbeat/registers/RegisterMap.scala", r"val version: Seq\[Int\] = Seq\((.*)\)")
    versions = {
        "pom.xml": found("pom.xml", r"^  <version>(.*)</version>"),
        "CITATION.cff": found("CITATION.cff", r"^version: (.*)"),
        "downbeat_toe/pages.py": shown().partition(" ")[0],
        "RegisterMap.scala": core.replace(", ", "."),
    }
    assert set(versions.values()) == {version}, versions
