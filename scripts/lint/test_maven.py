# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The libraries that compile and run the core are those of scripts/maven.sha256."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from scripts.lint.tools import ROOT

LIST = ROOT / "scripts" / "maven.sha256"


def checked(classpath: Path) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "scripts" / "rtl.sh"), "jars", str(classpath)]
    return subprocess.run(command, text=True, capture_output=True, check=False)


def test_a_library_that_is_another_is_named(tmp_path: Path) -> None:
    jar = tmp_path / LIST.read_text().split()[1]
    jar.write_bytes(b"another")
    classpath = tmp_path / "classpath"
    classpath.write_text(str(jar))
    done = checked(classpath)
    assert done.returncode == 1 and f"{jar}: its SHA-256 is not in" in done.stderr


def test_each_line_has_one_library() -> None:
    lines = [line.split() for line in LIST.read_text().splitlines()]
    names = [name for _, name in lines]
    assert names == sorted(set(names)) and all(len(sum_) == hashlib.sha256().digest_size * 2 for sum_, _ in lines)
