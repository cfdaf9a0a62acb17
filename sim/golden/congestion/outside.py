# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Folder of policies from outside the tree (`make POLICY_PATH=...`, docs/tutorials/first-policy.md)."""

from __future__ import annotations

import os
from pathlib import Path


def places(family: str) -> list[str]:
    """Directories to look for golden models in, beside the tree's own; `family` is startup or steady."""
    outside = os.environ.get("POLICY_PATH")
    return [str(Path(outside).resolve() / family)] if outside else []
