# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Folders depend on each other in one direction: sw below, then sim, cocotb_tests, scripts; and no two on each other.

Imports of Python and `#include` of C++ count alike. `python -m scripts.lint.test_dependencies` prints the folders of sw
and sim, each below those that need it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from scripts.lint.test_packages import Graph, order
from scripts.lint.tools import ROOT, project_files

MODULES = (Path(), Path("sw/python"))  # an import is a path from one of these
# A quoted include is a path from the file's folder or from one of these (-I of the builds).
INCLUDES = tuple(
    map(
        Path,
        (
            *("sw/include", "sw/driver/include", "sw/driver/src", "sw/estimator/include", "sw/gateway"),
            *("sw/gateway/client", "sim", "sim/device", "sim/bench/wire", "sim/experiments/engine/program"),
        ),
    )
)
# By folder, the folders that its files must not need. The longest folder that fits a file counts.
BENCHES = ("sim/bench", "sim/adversarial", "sim/experiments")
FORBIDDEN = {
    "sw": ("sim", "scripts", "cocotb_tests"),
    "sim/lib": ("sim/device", "sim/ns3", "sim/linux", *BENCHES, "scripts", "cocotb_tests"),
    "sim/golden": ("sim/ns3", "sim/linux", *BENCHES, "scripts", "cocotb_tests"),
    "sim/bench/policies": ("cocotb_tests",),  # the area of a policy is scripts/ecp5's
    "sim": ("scripts", "cocotb_tests"),
    "cocotb_tests": (*BENCHES, "scripts"),
}
# Folders that need each other: the core's application port is compiled with one of the two taps.
TOGETHER = {"sim/device/tap_frame": "sim/device/core", "sim/device/tap_header": "sim/device/core"}


def needed(path: Path, text: str, files: Collection[Path]) -> Iterator[Path]:
    """The project's files that a file imports or includes."""
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield from _module(f"{node.module}.{alias.name}", files)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield from _module(alias.name, files)
    elif path.suffix in {".c", ".cpp", ".h"}:
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
            places = (Path(os.path.normpath(folder / name)) for folder in (path.parent, *INCLUDES))
            yield from [place for place in places if place in files][:1]


def _module(name: str, files: Collection[Path]) -> list[Path]:
    stems = [base / stem.replace(".", "/") for stem in (name, name.rpartition(".")[0]) for base in MODULES if stem]
    return [file for stem in stems for file in (Path(f"{stem}.py"), stem / "__init__.py") if file in files][:1]


def forbidden(path: Path, text: str, files: Collection[Path]) -> list[str]:
    """The files that a file must not need."""
    folder = max((name for name in FORBIDDEN if path.is_relative_to(name)), key=len, default="")
    below = FORBIDDEN.get(folder, ())
    return [str(file) for file in needed(path, text, files) if any(file.is_relative_to(each) for each in below)]


def folders(root: Path, files: Collection[Path]) -> Graph:
    """The folders of sw and sim and those that each needs. A program's entry and a test stand above all folders."""
    found: Graph = {}
    for path in files:
        if path.parts[0] in {"sw", "sim"} and not re.match(r"__main__\.|test_|conftest\.", path.name):
            own = TOGETHER.get(str(path.parent), str(path.parent))
            others = {str(file.parent) for file in needed(path, (root / path).read_text(), files)}
            found.setdefault(own, set()).update({TOGETHER.get(other, other) for other in others} - {own})
    return found


@pytest.fixture(scope="module")
def sources() -> set[Path]:
    return {path for path in project_files() if path.suffix in {".py", ".c", ".cpp", ".h"}}


def test_dependencies_go_one_way(sources: set[Path]) -> None:
    found = [
        f"{path} needs {name}"
        for path in sorted(sources)
        for name in forbidden(path, (ROOT / path).read_text(), sources)
    ]
    assert not found, "\n".join(found)


def test_no_folder_needs_one_that_needs_it(sources: set[Path]) -> None:
    order(folders(ROOT, sources))


@pytest.mark.parametrize(
    ("path", "text", "refused"),
    [
        ("sw/python/downbeat_toe/x.py", "from sim.lib import build", ["sim/lib/build.py"]),
        ("sim/bench/x.py", "import cocotb_tests.bench", ["cocotb_tests/bench/__init__.py"]),
        ("sim/lib/x.py", "def f():\n    from sim.ns3 import golden", ["sim/ns3/golden.py"]),
        ("sim/ns3/x.py", "from sim.lib import build\nimport simple", []),
        ("sim/lib/x.cpp", '#include "../device/a.h"\n#include "packets/b.h"', ["sim/device/a.h"]),
        ("sw/driver/src/x.h", '  # include "device/a.h"', ["sim/device/a.h"]),
    ],
)
def test_a_forbidden_dependency_is_found(path: str, text: str, refused: list[str]) -> None:
    files = {"sim/lib/build.py", "sim/ns3/golden.py", "cocotb_tests/bench/__init__.py", "sim/device/a.h"}
    assert forbidden(Path(path), text, {Path(file) for file in files}) == refused


def test_a_circle_of_folders_is_found(tmp_path: Path) -> None:
    texts = {
        "sim/a/a.h": '#include "../b/b.h"\n',
        "sim/b/b.h": "",
        "sim/b/b.py": "from sim.c import c\n",
        "sim/c/c.py": "",
        "sim/c/test_c.py": "from sim.b import b\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    files = {Path(name) for name in texts}
    assert order(folders(tmp_path, files)) == ["sim/c", "sim/b", "sim/a"]
    (tmp_path / "sim/c/c.py").write_text("import sim.b.b\n")
    with pytest.raises(AssertionError, match=r"sim/b <- sim/c|sim/c <- sim/b"):
        order(folders(tmp_path, files))


if __name__ == "__main__":
    everything = {path for path in project_files() if path.suffix in {".py", ".c", ".cpp", ".h"}}
    needs = folders(ROOT, everything)
    for name in order(needs):
        print(f"{name}: {', '.join(sorted(needs[name]))}")
