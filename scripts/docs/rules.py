# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Rules that a page must keep; each gives its complaints as `page:line: reason`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from scripts.docs import retired
from scripts.docs.pages import LINK, QUOTED, Page, Tree, is_generated

MAX_WORDS = 40_000
FIGURES = PurePosixPath("docs/reference/figures")  # scripts.figures writes them
MAX_LINE = 120
COMMIT = re.compile(r"(?<![\w#.])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)(?:[0-9a-f]{7,10}|[0-9a-f]{40})(?!\w)")
DATE = re.compile(r"(?<!\d)20\d\d-[01]\d-[0-3]\d(?!\d)")
FOLDERS = {"rtl", "sim", "sw", "docs", "scripts", "cocotb_tests", "constraints", "boards", "examples", ".ci"}
SUFFIXES = {
    *(".py", ".scala", ".h", ".c", ".cpp", ".v", ".sv", ".vlt", ".md"),
    *(".toml", ".xdc", ".tcl", ".sh", ".pkt", ".gtkw", ".sucl", ".xml"),
}
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/?")


def complaints(tree: Tree) -> list[str]:
    found = [complaint for page in tree.pages for complaint in _of_page(page, tree)]
    counted = words(tree)
    if counted > MAX_WORDS:
        found.append(f"docs: {counted:,} words, and {MAX_WORDS:,} are the most")
    return found


def words(tree: Tree) -> int:
    """The words of docs/ as `wc -w` counts, with code, numbers and the bars of tables; without pages of figures."""
    written = [page for page in tree.pages if page.path.parts[0] == "docs" and FIGURES not in page.path.parents]
    return sum(len(page.text.split()) for page in written)


def _of_page(page: Page, tree: Tree) -> Iterator[str]:
    is_log = page.path.name == "CHANGELOG.md"  # a log may have dates, and its words are of its time
    yield from _links(page, tree)
    if not is_log:
        yield from _named_files(page, tree)
        yield from _wording(page)
    if not is_log and not is_generated(page):
        yield from _long_lines(page)


def _links(page: Page, tree: Tree) -> Iterator[str]:
    for line, target in page.links():
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = _resolved(page.path.parent, name) if name else page.path
        is_folder = path in tree.folders
        if is_folder and "docs" in page.path.parts[:1] and "docs" in path.parts[:1]:
            yield f"{page.path}:{line.number}: the link {target} leads to a folder, which the site does not show"
        elif path not in tree.files and not is_folder:
            yield f"{page.path}:{line.number}: the link {target} leads to no file"
        elif anchor and (aim := tree.page(path)) is not None and anchor not in aim.anchors:
            yield f"{page.path}:{line.number}: {path} has no heading #{anchor}"


def _named_files(page: Page, tree: Tree) -> Iterator[str]:
    for line, text in page.quoted():
        name = text.partition("::")[0]
        if "/" in name and PATH.fullmatch(name) and not _is_there(name.rstrip("/"), tree):
            yield f"{page.path}:{line.number}: there is no {name}"


def _is_there(name: str, tree: Tree) -> bool:
    """A path from a folder of ours, or the end of one; what is neither names no file of the tree. Tests go without
    .py."""
    path = PurePosixPath(name)
    candidates = tree.files | tree.folders
    # Placeholders: boards/NAME.toml.
    pattern = re.sub(r"(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])", "*", name)
    if path.parts[0] in FOLDERS:
        same = (candidate for candidate in candidates if len(candidate.parts) == len(path.parts))
        return any(candidate.match(pattern) or candidate.match(f"{pattern}.py") for candidate in same)
    if path.parts[0] == "build" or path.suffix not in SUFFIXES or name.startswith("my-"):
        return True
    return any(candidate.match(pattern) for candidate in candidates)


def _wording(page: Page) -> Iterator[str]:
    for line in page.lines:
        for commit in COMMIT.findall(line.text):
            yield f"{page.path}:{line.number}: a commit's hash: {commit}"
        for date in DATE.findall(line.text):
            yield f"{page.path}:{line.number}: a date: {date}"
        for word in retired.in_prose(QUOTED.sub("", line.text)):
            yield f"{page.path}:{line.number}: '{word}' is not a word of the field: {retired.better(word)}"


def _long_lines(page: Page) -> Iterator[str]:
    for line in page.lines:
        length = len(LINK.sub(lambda link: link[0].replace(link[1], ""), line.text))
        if line.kind == "prose" and length > MAX_LINE:
            yield f"{page.path}:{line.number}: {length} characters in a line of prose, {MAX_LINE} are the most"


def _resolved(folder: PurePosixPath, name: str) -> PurePosixPath:
    parts: list[str] = []
    for part in (*folder.parts, *PurePosixPath(name).parts):
        if part == "..":
            if not parts:
                return PurePosixPath("..")
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)
