# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/tutorials/first-policy.md: its commands run and its files work, in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, project_files

PAGE = ROOT / "docs" / "tutorials" / "first-policy.md"
WALL_SECONDS = 1200  # a busy machine takes minutes where a quiet one takes seconds
Step = tuple[str, str]  # a file's name or a command; its text or what it prints


def steps(page: str) -> Iterator[Step]:
    """Files (``` after a line that names one) and commands (indented, `$`), with what they print, in order."""
    file = r"In `(?P<file>[^`]+)`:\n\n```\w+\n(?P<text>.*?)```"
    command = r"^    \$ (?P<command>[^\n]*)\n(?P<said>(?:    (?!\$ )[^\n]*\n)*)"
    pattern = re.compile(f"{file}|{command}", re.DOTALL | re.MULTILINE)
    for found in pattern.finditer(page):
        yield (found["file"], found["text"]) if found["file"] else (f"$ {found['command']}", found["said"] or "")


def test_the_page_is_read() -> None:
    names = [name for name, _ in steps(PAGE.read_text())]
    assert [name.startswith("$ make ") for name in names] == [True, True, False, False, False, True]
    assert PAGE.read_text().count("\n    $ ") == 3


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The tree as a clone has it."""
    for path in project_files():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target)
    return tmp_path


@pytest.mark.soak
def test_what_the_page_says_happens(copy: Path) -> None:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DOWNBEAT_ROOT", "SEED")
    }
    environment |= {"COLUMNS": "200", "DOWNBEAT_VENV": os.environ["DOWNBEAT_VENV"]}
    for name, text in steps(PAGE.read_text()):
        if not name.startswith("$ "):
            assert (copy / name).exists(), f"{name}: the page writes a file that new-policy has not made"
            (copy / name).write_text(text)
            continue
        done = subprocess.run(
            name[2:],
            shell=True,
            cwd=copy,
            env=environment,
            text=True,
            capture_output=True,
            timeout=WALL_SECONDS,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, f"{name}\n{said}"
        for line in filter(None, (part.strip() for row in text.splitlines() for part in row.split("..."))):
            assert " ".join(line.split()) in " ".join(said.split()), f"{name}\nwants {line}\nsays\n{said}"
