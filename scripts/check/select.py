# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which test files TEST means: `rx/test_frame_filter`, `frame_filter`, a folder such as `rx`, or a path."""

from __future__ import annotations

import difflib
from pathlib import Path

FOLDERS = ("scripts", "cocotb_tests", "sim", "sw")
ROOTS = ("cocotb_tests/", "scripts/")  # left out of a module's name: TEST=rx/test_frame_filter


def module_name(nodeid: str) -> str:
    name = nodeid.partition("::")[0].removesuffix(".py")
    for root in ROOTS:
        name = name.removeprefix(root)
    return name


def test_files(root: Path) -> list[Path]:
    """Every test module, relative to the root."""
    found = {path for folder in FOLDERS for path in (root / folder).rglob("test_*.py")}
    return sorted(path.relative_to(root) for path in found)


def select(root: Path, test: str) -> list[Path]:
    """The files that `test` names; empty when there is none."""
    wanted = test.removeprefix("./").removesuffix(".py").strip("/")
    return [path for path in test_files(root) if _matches(path, wanted)]


def similar(root: Path, test: str) -> list[str]:
    names = {module_name(path.as_posix()) for path in test_files(root)}
    short = {name.rpartition("/")[2].removeprefix("test_"): name for name in names}
    wanted = test.rpartition("/")[2].removeprefix("test_")
    return [short[match] for match in difflib.get_close_matches(wanted, short, cutoff=0.4)]


def _matches(path: Path, wanted: str) -> bool:
    whole = "/" + path.with_suffix("").as_posix()
    folder, _, name = wanted.rpartition("/")
    prefixed = f"{folder}/test_{name}" if folder else f"test_{name}"
    return whole.endswith((f"/{wanted}", f"/{prefixed}")) or f"/{wanted}/" in whole
