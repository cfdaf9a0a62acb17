# SPDX-License-Identifier: BSD-2-Clause-Patent
"""MkDocs' hooks: folders in the navigation, links that leave docs/, and tables that are made from files."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from scripts.docs import registers, requirements

LONG_NAME = re.compile(r"<code>([^<\s]{28,})</code>")
LINK = re.compile(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\((\.\.?/[^)\s]+)\)")


def on_config(config: Any, **_: Any) -> Any:
    """An entry of the navigation that ends with a slash stands for the pages of that folder."""
    config.nav = [_opened(entry, Path(config.docs_dir)) for entry in config.nav]
    return config


def _opened(entry: Any, docs: Path) -> Any:
    if isinstance(entry, dict):
        return {title: _opened(below, docs) for title, below in entry.items()}
    if isinstance(entry, list):
        return [_opened(below, docs) for below in entry]
    if entry.endswith("/"):
        return sorted(path.relative_to(docs).as_posix() for path in (docs / entry).glob("*.md"))
    return entry


def on_page_content(html: str, **_: Any) -> str:
    """A long name may go on in the next line, as a column of a table is narrow."""

    def breakable(name: re.Match[str]) -> str:
        return "<code>" + re.sub(r"(::|[,/_=])", r"\1<wbr>", name[1]) + "</code>"

    return LONG_NAME.sub(breakable, html)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The site has no copy of the sources: a link to one stays as its text. scripts.docs has seen that the file is
    there."""
    folder = posixpath.dirname(page.file.src_uri)

    def kept(link: re.Match[str]) -> str:
        outside = posixpath.normpath(posixpath.join(folder, link[2].partition("#")[0])).startswith("..")
        return link[1] if outside else link[0]

    return LINK.sub(kept, _tables(markdown))


def _tables(markdown: str) -> str:
    return registers.shown(requirements.shown(markdown))
