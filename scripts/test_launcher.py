# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`scripts/tools/downbeat` finds its environment where no variable says where it is: behind sudo, in another shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT

ENVIRONMENT = os.environ.get("DOWNBEAT_VENV") or str(ROOT / "build" / "venv")
WORDS = ("schedule", "paced", "--rate", "20Mbit", "--frames", "2")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The scripts and the Python package, in a tree of their own without a build."""
    (tmp_path / "scripts" / "tools").mkdir(parents=True)
    (tmp_path / "build").mkdir()
    for name in ("scripts/env.sh", "scripts/tools/downbeat"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "sw").symlink_to(ROOT / "sw")
    return tmp_path


def called(*command: object) -> subprocess.CompletedProcess[str]:
    """Without any variable but PATH, as sudo calls."""
    words = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *map(str, command)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, cwd="/")


def test_the_environment_that_set_up_recorded_is_found(tree: Path) -> None:
    (tree / "build" / "venv.path").write_text(f"{ENVIRONMENT}\n")
    done = called(tree / "scripts/tools/downbeat", *WORDS)
    assert done.stdout.startswith("launch_ns,length,flow\n0,1514,0\n"), done.stderr


def test_a_variable_goes_first(tree: Path) -> None:
    (tree / "build" / "venv.path").write_text("/nowhere\n")
    assert called(f"DOWNBEAT_VENV={ENVIRONMENT}", tree / "scripts/tools/downbeat", *WORDS).returncode == 0


def test_without_one_it_says_what_is_missing(tree: Path) -> None:
    done = called(tree / "scripts/tools/downbeat", *WORDS)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert f"no whole Python environment in {tree}/build/venv: run make setup" in done.stderr


@pytest.mark.skipif(shutil.which("dash") is None, reason="dash is not installed")
def test_another_shell_gets_a_hint(tree: Path) -> None:
    done = called("dash", "-c", f". {tree}/scripts/env.sh || exit 3")
    assert done.returncode == 3 and "scripts/env.sh is for bash" in done.stderr
