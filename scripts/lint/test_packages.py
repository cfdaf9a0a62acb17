# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The packages of rtl/downbeat depend on one another one way: no circle, and no package depends on the tops.

`python -m scripts.lint.test_packages` prints the packages, each below those that import it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl"
ABOVE_THE_TOPS = {"downbeat.bench", "downbeat.board", "downbeat.builds"}

Graph = dict[str, set[str]]


def sources(root: Path = RTL) -> dict[str, str]:
    """Every Scala file, by its path below `root`."""
    return {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*.scala"))}


def graph(files: dict[str, str]) -> Graph:
    """Each package and those that its files name: in an import, or in full."""
    package = {path: _package(text) for path, text in files.items()}
    found: Graph = {name: set() for name in package.values()}
    for path, text in files.items():
        found[package[path]] |= {name for name in _named(text, found) if name != package[path]}
    return found


def order(packages: Graph) -> list[str]:
    """Each package behind those that it needs. A circle is an AssertionError that names it."""
    try:
        return list(TopologicalSorter({name: sorted(needs) for name, needs in sorted(packages.items())}).static_order())
    except CycleError as error:
        raise AssertionError("packages in a circle: " + " <- ".join(error.args[1])) from None


def _package(text: str) -> str:
    found = re.search(r"^package ([\w.]+)$", text, re.MULTILINE)
    assert found, "a Scala file without a package"
    return found[1]


def _named(text: str, packages: Iterable[str]) -> Iterator[str]:
    code = re.sub(
        r"^package [^\n]*|//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", "", text, flags=re.MULTILINE | re.DOTALL
    )
    for path in re.findall(r"\bdownbeat(?:\.\w+)*", code):
        parts = path.split(".")
        yield next(name for end in range(len(parts), 0, -1) if (name := ".".join(parts[:end])) in packages)


def test_no_package_needs_one_that_needs_it() -> None:
    order(graph(sources()))


def test_a_file_is_in_the_folder_of_its_package() -> None:
    for path, text in sources().items():
        assert _package(text) == ".".join(path.split("/")[:-1]), path


def test_the_tops_are_imported_from_above_only() -> None:
    assert {name for name, needs in graph(sources()).items() if "downbeat" in needs} <= ABOVE_THE_TOPS


def test_a_circle_is_found_and_named() -> None:
    files = {
        "downbeat/Top.scala": "package downbeat\nimport downbeat.a._\n",
        "downbeat/a/A.scala": "package downbeat.a\nimport downbeat.b.{\n  B, C\n}\n",
        "downbeat/b/B.scala": "package downbeat.b\n// import downbeat.Top\nval a = downbeat.c.d.D\n",
        "downbeat/c/d/D.scala": "package downbeat.c.d\nimport spinal.core._\n",
    }
    assert order(graph(files))[-1] == "downbeat"
    assert order(graph(files)).index("downbeat.c.d") < order(graph(files)).index("downbeat.b")
    files["downbeat/c/d/D.scala"] += "import downbeat.a.A\n"
    with pytest.raises(AssertionError, match=r"downbeat\.a <- .*downbeat\.b"):
        order(graph(files))


if __name__ == "__main__":
    needs = graph(sources())
    for name in order(needs):
        print(f"{name}: {', '.join(sorted(needs[name]))}")
