# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Every file: a licence tag, and nothing that holds on one machine only."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, passes, project_files

TAG = "SPDX-License-Identifier: BSD-2-Clause-Patent"
SOURCES = {
    *(".scala", ".py", ".sh", ".c", ".h", ".cpp", ".hpp", ".cc", ".v", ".sv", ".vlt"),
    *(".xdc", ".lpf", ".sdc", ".tcl", ".mk", ".toml", ".xml", ".service", ".yml", ".css"),
}
# A mirror or a proxy is the user's choice; tools know their registries.
REGISTRY = re.compile(r"\b(?:https?:)?//[\w.-]*(?:pypi|pythonhosted|maven|sonatype|npmjs|crates|debian|golang)")
# A home directory or a work area of one machine, but not a folder of ours that happens to be called so.
MACHINE = re.compile(r"(?<![\w.}/])/(?:home|root|Users|work)/\w")


def test_licence_tags() -> None:
    untagged = [str(path) for path in project_files() if _is_source(path) and TAG not in _head(path)]
    assert not untagged, f"no '{TAG}' in the first lines of {', '.join(untagged)}"


def test_no_registry_and_no_machine() -> None:
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in project_files()
        for number, line in enumerate(_text(path).splitlines(), 1)
        if REGISTRY.search(line) or MACHINE.search(line)
    ]
    assert not found, "registry hosts or paths of one machine:\n" + "\n".join(found)


def test_shell_scripts() -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    passes("shellcheck", "-x", "-P", "scripts", *[path for path in project_files() if _is_shell(path)])


def _is_source(path: Path) -> bool:
    return path.suffix in SOURCES or path.name == "Makefile" or _head(path).startswith("#!")


def _is_shell(path: Path) -> bool:
    return path.suffix == ".sh" or re.match(r"#!.*\bsh\b|#!.*\bbash\b", _head(path)) is not None


def _head(path: Path) -> str:
    return _text(path)[:600]


def _text(path: Path) -> str:
    return (ROOT / path).read_text(errors="replace")
