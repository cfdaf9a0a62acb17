# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Scala packages are folders of rtl/, and depend on each other in one direction: no circle."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from scripts.lint.tools import ROOT, project_files

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PACKAGE = re.compile(r"^package (\S+)$", re.MULTILINE)
# `import downbeat.rx.Receiver`, `import downbeat.rx.{...}`, or a full name in code; not a file's name in a string.
USED = re.compile(r"(?<!package )\b(downbeat(?:\.[a-z]\w*)*)\.[A-Z{_]")


def circle(sources: Mapping[str, str]) -> list[str]:
    """The packages of one circle, the first one again at the end; none if there is no circle. Sources are by path."""
    graph: dict[str, set[str]] = defaultdict(set)
    for source in sources.values():
        text = COMMENT.sub("", source)
        package = PACKAGE.findall(text)[0]
        graph[package] |= set(USED.findall(text)) - {package}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def misplaced(sources: Mapping[str, str]) -> list[str]:
    """Files whose package is not their folder."""
    return [
        path
        for path, text in sources.items()
        if PACKAGE.findall(text) != [".".join(path.removeprefix("rtl/").split("/")[:-1])]
    ]


def test_packages_are_folders_without_circles() -> None:
    paths = [path for path in project_files() if path.suffix == ".scala" and path.parts[0] == "rtl"]
    sources = {path.as_posix(): (ROOT / path).read_text() for path in paths}
    assert not misplaced(sources)
    assert not circle(sources), "packages in a circle: move what they share into the lowest"


BELOW = "package downbeat.rx\nimport downbeat.wire.{Frame, Tcp}\n"
ABOVE = "package downbeat.wire\n"


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("val x = downbeat.rx.Receiver()", True),
        ("import downbeat.rx._", True),
        ("import downbeat.time.Instant", False),
        ("/** [[downbeat.rx.Receiver]] */", False),
    ],
)
def test_a_circle_is_found(use: str, found: bool) -> None:
    assert bool(circle({"rtl/downbeat/rx/A.scala": BELOW, "rtl/downbeat/wire/B.scala": ABOVE + use})) is found


def test_a_misplaced_file_is_found() -> None:
    assert misplaced({"rtl/downbeat/rx/A.scala": BELOW, "rtl/downbeat/rx/B.scala": ABOVE}) == [
        "rtl/downbeat/rx/B.scala"
    ]
