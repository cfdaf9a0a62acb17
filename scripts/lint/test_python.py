# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Python: rules, format and types."""

from __future__ import annotations

from scripts.lint.tools import passes, project_files


def test_rules() -> None:
    passes("ruff", "check", "--cache-dir", "build/ruff", ".")


def test_format() -> None:
    passes("ruff", "format", "--check", "--diff", "--cache-dir", "build/ruff", ".")


def test_types() -> None:
    passes("mypy", *[path for path in project_files() if path.suffix == ".py"])
