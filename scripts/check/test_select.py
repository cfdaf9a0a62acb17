# SPDX-License-Identifier: BSD-2-Clause-Patent
"""TEST chooses folders, and the line that runs a failed case again."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check.rows import Row
from scripts.check.select import module_name, select, similar


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("cocotb_tests/rx/test_frame_filter.py", "cocotb_tests/tx/test_merge.py", "sim/tests/test_merge.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("test", "chosen"),
    [
        ("rx/test_frame_filter", ["cocotb_tests/rx/test_frame_filter.py"]),
        ("rx/frame_filter", ["cocotb_tests/rx/test_frame_filter.py"]),
        ("frame_filter", ["cocotb_tests/rx/test_frame_filter.py"]),
        ("cocotb_tests/rx/test_frame_filter.py", ["cocotb_tests/rx/test_frame_filter.py"]),
        ("rx", ["cocotb_tests/rx/test_frame_filter.py"]),
        ("merge", ["cocotb_tests/tx/test_merge.py", "sim/tests/test_merge.py"]),
        ("filter", []),
    ],
)
def test_a_name_chooses_whole_path_components(tree: Path, test: str, chosen: list[str]) -> None:
    assert [path.as_posix() for path in select(tree, test)] == chosen


def test_a_mistyped_name_gets_a_proposal(tree: Path) -> None:
    assert similar(tree, "rx/frame_fliter") == ["rx/test_frame_filter"]


def test_the_line_to_run_again_is_quoted_for_the_shell() -> None:
    row = Row(module_name("cocotb_tests/rx/test_x.py::test_x"), "a b/stall=0.5", "failed", 0.0)
    assert row.rerun(7, "test") == "make test TEST=rx/test_x 'CASE=a b/stall=0.5' SEED=7"
    assert row.rerun(7, "bench NAME=netlist") == "make bench NAME=netlist 'CASE=a b/stall=0.5' SEED=7"
