# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Pages as a checker sees them: prose apart from code and tables, links, headings' anchors, files that are named."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

FENCE = re.compile(r"^ {0,3}(```|~~~)")
LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$")
QUOTED = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Line:
    number: int
    text: str
    kind: str  # "prose", "table" or "code"


@dataclass(frozen=True)
class Page:
    """One Markdown file; `path` is relative to the tree's root."""

    path: PurePosixPath
    text: str

    @cached_property
    def lines(self) -> list[Line]:
        return list(_lines(self.text))

    @cached_property
    def anchors(self) -> set[str]:
        found: set[str] = set()
        for line in self.lines:
            heading = HEADING.match(line.text) if line.kind == "prose" else None
            if heading:
                name = anchor(heading[1])
                again = (f"{name}_{count}" for count in range(1, 100))
                found.add(name if name not in found else next(other for other in again if other not in found))
        return found

    def links(self) -> Iterator[tuple[Line, str]]:
        """Targets outside code."""
        for line in self.lines:
            if line.kind != "code":
                yield from ((line, target) for target in LINK.findall(QUOTED.sub("`", line.text)))

    def quoted(self) -> Iterator[tuple[Line, str]]:
        """Texts in backticks outside code blocks."""
        for line in self.lines:
            if line.kind != "code":
                yield from ((line, text) for text in QUOTED.findall(line.text))


@dataclass(frozen=True)
class Tree:
    """The pages, and every file of the project."""

    pages: list[Page]
    files: frozenset[PurePosixPath]

    @staticmethod
    def of(root: Path) -> Tree:
        """The files that git has or would add; raises CalledProcessError outside a work tree."""
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, text=True, capture_output=True, check=True).stdout.splitlines()
        files = frozenset(PurePosixPath(name) for name in listed if (root / name).is_file())
        written = sorted(path for path in files if path.suffix == ".md" and (len(path.parts) == 1 or _is_doc(path)))
        return Tree([Page(path, (root / path).read_text()) for path in written], files)

    @cached_property
    def folders(self) -> frozenset[PurePosixPath]:
        return frozenset(parent for path in self.files for parent in path.parents)

    def page(self, path: PurePosixPath) -> Page | None:
        return next((page for page in self.pages if page.path == path), None)


def anchor(heading: str) -> str:
    """A heading's id, as GitHub and the site make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def is_generated(page: Page) -> bool:
    """The register page, whose text is the RTL's."""
    return page.text.startswith("<!-- Generated")


def _is_doc(path: PurePosixPath) -> bool:
    return path.parts[0] == "docs"


def _lines(text: str) -> Iterator[Line]:
    fence, indented = "", False
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence or mark:
            yield Line(number, line, "code")
            if mark and mark[1] == fence and line.strip() == fence:
                fence = ""
            elif mark and not fence:
                fence = mark[1]
            before = line
            continue
        # Four spaces are code behind an empty line, and until the text returns; in a list they are its text.
        indented = line.startswith("    ") and (indented or not before.strip())
        kind = "code" if indented else "table" if line.lstrip().startswith("|") else "prose"
        yield Line(number, line, kind)
        before = line
