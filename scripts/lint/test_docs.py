# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The pages: links lead somewhere, files are there, lines are short, words are the field's; and the site builds."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File
from mkdocs.structure.pages import Page as MkDocsPage

from cocotb_tests.bench.results import note
from scripts.docs import diagrams, hooks, rules
from scripts.docs.__main__ import NotBuilt, build
from scripts.docs.pages import Page, Tree, anchor
from scripts.lint.tools import ROOT, project_files

GOOD = """# A page

See [another](../reference/other.md#two-words), `sim/ns3/main.cpp`, `sim/ns3/test_it::a_rule`, `rx/test_filter`,
`make test`, `build/x/y.py`, `1/2` and `constraints/BOARD/board.toml`.

    a line of code may be as long as it must be: 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 012345

| a row of a table too | 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 |
| --- | --- |
"""
OTHER = "# Other\n\n## Two `words`\n"
FILES = (
    *("docs/how-to/page.md", "docs/reference/other.md"),
    *("sim/ns3/main.cpp", "sim/ns3/test_it.py", "constraints/ecpix5/board.toml"),
)


def of_page(text: str) -> list[str]:
    pages = [Page(PurePosixPath(FILES[0]), text), Page(PurePosixPath(FILES[1]), OTHER)]
    return rules.complaints(Tree(pages, frozenset(PurePosixPath(name) for name in FILES)))


def test_pages_keep_the_rules() -> None:
    project_files()  # skips outside a work tree
    tree = Tree.of(ROOT)
    complaints = rules.complaints(tree)
    note(f"{rules.words(tree):,} words in docs, {rules.MAX_WORDS:,} are the most")
    assert not complaints, "\n".join(complaints)


def test_the_index_links_every_page() -> None:
    pages = {page.path: page for page in Tree.of(ROOT).pages if page.path.parts[0] == "docs"}
    index = pages.pop(PurePosixPath("docs/index.md"))
    linked = {PurePosixPath("docs") / target.partition("#")[0] for _, target in index.links()}
    assert not pages.keys() - linked


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    build(site=tmp_path)
    assert (tmp_path / "index.html").is_file()


def test_a_site_with_a_warning_is_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[nowhere](gone.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: small\ntheme: {name: material, font: false}\n")
    with pytest.raises(NotBuilt, match=r"gone\.md"):
        build(tmp_path / "mkdocs.yml", tmp_path / "site")


def test_sources_name_pages_that_are_there() -> None:
    gone = [
        f"{path}: {name[0]}"
        for path in project_files()
        if path.suffix != ".md" and path.name != "test_docs.py"
        for name in re.finditer(r"docs/(?:[\w-]+/)*[\w-]+\.md", (ROOT / path).read_text(errors="replace"))
        if not (ROOT / name[0]).is_file()
    ]
    assert not gone, "pages that are not there:\n" + "\n".join(gone)


def test_a_good_page_has_no_complaint() -> None:
    assert of_page(GOOD) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[gone](gone.md)", "the link gone.md leads to no file"),
        ("[gone](../reference/other.md#three-words)", "docs/reference/other.md has no heading #three-words"),
        ("[folder](../reference)", "leads to a folder"),
        ("[outside](../../../x.md)", "the link ../../../x.md leads to no file"),
        ("`sim/ns3/gone.cpp` does it", "there is no sim/ns3/gone.cpp"),
        ("`gone/gone.py::test_it` does it", "there is no gone/gone.py"),
        ("measured at 652ad28", "a commit's hash: 652ad28"),
        ("measured on 2026-11-22", "a date: 2026-11-22"),
        ("a stray's answer", "'stray' is not a word of the field"),
        ("it begins anew", "'anew' is not a word of the field"),
        ("the figures are held against a model", "'held against' is not a word of the field"),
        ("it holds a capture against a schedule", "is not a word of the field"),
        ("its patience ends", "'patience' is not a word of the field"),
        ("make fmax ROOM=Pacer", "'ROOM=' is not a word of the field"),
        ("a word " * 18, "characters in a line of prose"),
        ("a word " * rules.MAX_WORDS, "words, and 40,000 are the most"),
    ],
)
def test_a_bad_page_is_found(line: str, reason: str) -> None:
    complaints = of_page(f"{GOOD}\n{line}\n")
    assert any(reason in complaint for complaint in complaints), complaints


def test_a_word_that_only_looks_like_a_hash_or_a_retired_one_passes() -> None:
    assert (
        of_page("# A page\n\n1000000 frames, 0x88b5, decade, SHA-256, 10.0.0.1, impatience, 20261122, astray\n") == []
    )


def test_the_words_of_generated_figures_do_not_count() -> None:
    pages = [Page(PurePosixPath("docs") / name, "two words") for name in ("a.md", "reference/figures/b.md")]
    assert rules.words(Tree(pages, frozenset())) == 2


def test_an_anchor_is_as_github_makes_it() -> None:
    assert anchor("`make synth`: what a module takes") == "make-synth-what-a-module-takes"
    assert anchor("Ports & [links](x.md)") == "ports--links"


def test_diagrams_are_drawn_in_the_page() -> None:
    drawn = diagrams.mermaid("flowchart LR\n  a[one] --> b[two]\n")
    assert "<svg" in drawn and "one" in drawn and "merman" not in drawn
    assert "<svg" in diagrams.timing("{signal: [{name: 'valid', wave: '01.0'}]}")


@pytest.mark.parametrize("source", ["flowchart LR\n  a[one --> b\n", "no diagram\n"])
def test_a_wrong_flow_chart_fails(source: str) -> None:
    with pytest.raises(diagrams.WrongDiagram, match="Mermaid"):
        diagrams.mermaid(source)


def test_a_wrong_timing_diagram_fails() -> None:
    with pytest.raises(diagrams.WrongDiagram, match="WaveDrom"):
        diagrams.timing("{signal: [")


def test_a_link_out_of_docs_stays_as_text_in_the_site() -> None:
    shown = File("how-to/page.md", "docs", "site", use_directory_urls=True)
    page = MkDocsPage("A page", shown, MkDocsConfig())
    text = "[`example.c`](../../sim/device/example.c), [other](../reference/other.md)"
    assert hooks.on_page_markdown(text, page) == "`example.c`, [other](../reference/other.md)"
