# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The version of this package: an installed one's, or the source tree's."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path

DISTRIBUTION = "downbeat-toe"
PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def number() -> str:
    if PROJECT.exists():
        return str(tomllib.loads(PROJECT.read_text())["project"]["version"])
    return importlib.metadata.version(DISTRIBUTION)
