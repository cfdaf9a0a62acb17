# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Common parts of the lint tests: running a checker, and the list of files it looks at."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERILOG = ROOT / "build" / "rtl"


def passes(*command: str | Path) -> None:
    """Runs a checker; its own words are the failure."""
    __tracebackhide__ = True
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    if done.returncode:
        pytest.fail(f"{done.stdout}{done.stderr}".replace(f"{ROOT}/", ""), pytrace=False)


def project_files() -> list[Path]:
    """The files that are committed or would be, relative to the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git work tree: no list of the project's files")
    paths = (Path(line) for line in listed.stdout.splitlines())
    return [path for path in paths if (ROOT / path).is_file() and not (ROOT / path).is_symlink()]


def modules() -> list[str]:
    """The modules that were elaborated."""
    return sorted(path.stem for path in VERILOG.glob("*.v"))
