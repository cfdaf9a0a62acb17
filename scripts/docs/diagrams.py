# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Fenced blocks that the site draws as it is built, as inline SVG: no script and no network for who reads it."""

from __future__ import annotations

import hashlib
from typing import Any

import mmdr
import wavedrom  # type: ignore[import-untyped]
from pymdownx.superfences import SuperFencesException  # type: ignore[import-untyped]

# On any other exception the site would show the source, and go on.
WrongDiagram = SuperFencesException


def mermaid(source: str, *_: Any, **__: Any) -> str:
    """A flow chart or a sequence by Mermaid's own rules."""
    try:
        drawn = str(mmdr.render(source).svg())
    except ValueError as error:
        raise WrongDiagram(f"Mermaid: {error}\n{source}") from None
    # The renderer's identifiers are the same in each drawing; a page may have several. A label's background is the
    # page's.
    drawn = drawn.replace("merman", f"mermaid-{_digest(source)}").replace("hsl(-120, 0%, 80%)", "#fff")
    return _block("flow-chart", drawn)


def timing(source: str, *_: Any, **__: Any) -> str:
    """A timing diagram in WaveJSON."""
    try:
        drawn = str(wavedrom.render(source).tostring())
    except Exception as error:  # its parser has no exception of its own
        raise WrongDiagram(f"WaveDrom: {error!r}\n{source}") from None
    return _block("timing", drawn.replace("svgcontent_0", f"wavedrom-{_digest(source)}"))


def _block(kind: str, drawn: str) -> str:
    return f'<div class="diagram {kind}">{drawn}</div>'


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:8]
