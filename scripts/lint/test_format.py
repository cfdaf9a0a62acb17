# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Scala and C++ are as `make format` writes them. Python's format is in test_python.py."""

from __future__ import annotations

import re

from scripts.lint.tools import passes, project_files

GENERATED = re.compile(r"downbeat_(event|host|parameters|policies|registers|(\w+_)?types)\.h")


def test_cpp() -> None:
    files = [
        path for path in project_files() if path.suffix in {".c", ".cpp", ".h"} and not GENERATED.fullmatch(path.name)
    ]
    passes("clang-format", "--dry-run", "-Werror", *files)


def test_scala() -> None:
    passes("mvn", "--batch-mode", "--quiet", "org.antipathy:mvn-scalafmt_2.13:format", "-Dformat.validateOnly=true")
