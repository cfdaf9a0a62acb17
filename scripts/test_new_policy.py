# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make new-policy`: the pieces in the tree, what it refuses. That the copy works is test_tutorial's."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from scripts.new_policy import ROOT, SIMPLEST, Refused, make

PIECES = (
    *("rtl/downbeat/congestion", "rtl/downbeat/builds", "docs/reference/congestion.md"),
    *("sim/golden/congestion", "cocotb_tests/congestion"),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for piece in PIECES:
        source, target = ROOT / piece, tmp_path / piece
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return tmp_path


@pytest.mark.parametrize("kind", SIMPLEST)
def test_all_pieces_go_by_the_new_name(tree: Path, kind: str) -> None:
    files = make(tree, "foo2", kind, None)
    assert [path.relative_to(tree).as_posix() for path in files] == [
        f"rtl/downbeat/congestion/{kind}/Foo2.scala",
        f"sim/golden/congestion/{kind}/foo2.py",
        f"cocotb_tests/congestion/{kind}/test_foo2.py",
        "rtl/downbeat/builds/Policies.scala",
        "docs/reference/congestion.md",
    ]
    scala, golden, test = (path.read_text() for path in files[:3])
    assert "object Foo2 extends" in scala and 'val name = "foo2"' in scala
    assert 'name: str = "foo2"' in golden
    assert f"golden.congestion.{kind}.foo2 import POLICY" in test and 'run_module("PolicyFoo2"' in test
    for text in (scala, golden, test):
        assert not re.search(rf"\b{SIMPLEST[kind]}\b", text, re.IGNORECASE)


@pytest.mark.parametrize("kind", SIMPLEST)
def test_the_registry_and_the_page_have_one_line_more_and_nothing_else_changes(tree: Path, kind: str) -> None:
    registry, page = (ROOT / piece for piece in ("rtl/downbeat/builds/Policies.scala", "docs/reference/congestion.md"))
    make(tree, "foo", kind, None)
    added = {
        path: set((tree / path.relative_to(ROOT)).read_text().splitlines()) - set(path.read_text().splitlines())
        for path in (registry, page)
    }
    assert any(line.strip().startswith("Foo") for line in added[registry])
    imports = (tree / registry.relative_to(ROOT)).read_text().partition("object Policies")[0]
    assert len(re.findall(r"\bFoo\b", imports)) == 1
    assert "### foo" in added[page]
    lists = dict(
        re.findall(r"val (\w+): Seq\[\w+\] = Seq\((.*?)\)", (tree / registry.relative_to(ROOT)).read_text(), re.DOTALL)
    )
    before = dict(re.findall(r"val (\w+): Seq\[\w+\] = Seq\((.*?)\)", registry.read_text(), re.DOTALL))
    assert re.findall(r"\w+", lists[kind]) == [*re.findall(r"\w+", before[kind]), "Foo"]  # the last: no number changes
    (other,) = set(SIMPLEST) - {kind}
    assert lists[other] == before[other]


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("foo", "middle", "use startup or steady"),
        ("Foo", "steady", "lower-case"),
        ("2foo", "steady", "a letter first"),
        ("", "steady", "lower-case"),
        ("reno", "startup", "there is a policy of that name"),
    ],
)
def test_a_wrong_name_or_kind_is_explained(tree: Path, name: str, kind: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        make(tree, name, kind, None)


def test_outside_nothing_in_the_tree_changes(tree: Path, tmp_path: Path) -> None:
    before = {path: path.read_text() for path in tree.rglob("*.*") if path.is_file()}
    outside = tmp_path / "elsewhere"
    make(tree, "foo", "steady", outside)
    assert {path.name for path in (outside / "steady").iterdir()} == {
        "Foo.scala",
        "foo.py",
        "test_foo.py",
        "__init__.py",
    }
    assert all(path.read_text() == text for path, text in before.items())
    with pytest.raises(Refused, match="is there"):
        make(tree, "foo", "steady", outside)
