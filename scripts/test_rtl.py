# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`scripts/rtl.sh`: build/scala.stamp stands for the classes of this tree, with a Maven that makes a class without libraries."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT

MAVEN = """#!/bin/sh
[ -d build/maven ] && echo kept || echo fresh
mkdir -p build/maven/classes
touch build/maven/classes/A.class build/maven/classpath
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "first" / "scripts").mkdir(parents=True)
    for name in ("env.sh", "step.sh", "rtl.sh"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "first" / "scripts")
    program = tmp_path / "mvn"
    program.write_text(MAVEN)
    program.chmod(0o755)
    return tmp_path / "first"


def called(tree: Path, command: str) -> int:
    path = f"{tree.parent}:{os.environ['PATH']}"
    return subprocess.run(
        [tree / "scripts/rtl.sh", command], env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL, check=False
    ).returncode


def maven_found(tree: Path) -> str:
    """Whether Maven's records of an earlier call were there."""
    return (tree / "build/logs/Scala--compiled.log").read_text().strip()


def test_the_stamp_is_true_until_a_class_is_lost(tree: Path) -> None:
    assert called(tree, "compiled") != 0
    assert called(tree, "compile") == 0
    assert called(tree, "compiled") == 0
    (tree / "build/maven/classes/A.class").unlink()
    assert called(tree, "compiled") != 0
    assert called(tree, "compile") == 0 and maven_found(tree) == "kept"
    assert called(tree, "compiled") == 0


def test_a_copied_tree_compiles_without_the_first_ones_records(tree: Path) -> None:
    called(tree, "compile")
    copy = tree.parent / "copy"
    shutil.copytree(tree, copy)
    assert called(copy, "compiled") != 0
    assert called(copy, "compile") == 0 and maven_found(copy) == "fresh"
    assert called(copy, "compiled") == called(tree, "compiled") == 0
