# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Folders depend on each other in one direction: sw and sim/lib below, then sim, then cocotb_tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.lint.tools import ROOT, project_files

# By folder, the packages of this project that its files must not import. The longest folder that fits a file counts.
FORBIDDEN = {
    "sw": ("sim", "scripts", "cocotb_tests"),
    "sim/lib": (
        "sim.device",
        "sim.ns3",
        "sim.linux",
        "sim.bench",
        "sim.adversarial",
        "sim.experiments",
        "cocotb_tests",
    ),
    "sim/golden": ("sim.ns3", "sim.linux", "sim.bench", "sim.adversarial", "sim.experiments", "cocotb_tests"),
    "sim": ("cocotb_tests",),
    "cocotb_tests": ("sim.bench", "sim.adversarial", "sim.experiments"),
}


def forbidden(path: Path, text: str) -> list[str]:
    """The imports of a file that its folder must not have."""
    folder = max((name for name in FORBIDDEN if path.as_posix().startswith(f"{name}/")), key=len, default="")
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if f"{name}.".startswith(tuple(f"{each}." for each in FORBIDDEN.get(folder, ())))]


def test_dependencies_go_one_way() -> None:
    found = [
        f"{path} imports {name}"
        for path in project_files()
        if path.suffix == ".py"
        for name in forbidden(path, (ROOT / path).read_text())
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("path", "text", "refused"),
    [
        ("sw/python/downbeat_toe/x.py", "from sim.lib import build", ["sim.lib.build"]),
        ("sim/bench/x.py", "import cocotb_tests.bench", ["cocotb_tests.bench"]),
        ("sim/lib/x.py", "def f():\n    from sim.ns3 import golden", ["sim.ns3.golden"]),
        ("sim/ns3/x.py", "from sim.lib import build\nimport simple", []),
    ],
)
def test_a_forbidden_import_is_found(path: str, text: str, refused: list[str]) -> None:
    assert forbidden(Path(path), text) == refused
