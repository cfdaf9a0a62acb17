# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The one layout of all HTML reports: a page that holds everything, plots of one theme, numbers by one rule, a footer.

A page is printed on A4, as small as plots of WIDTH need; figures up to 1,400 px high stay whole. Plotly is kept
compressed in the page: its basic bundle where set-up installed it (page of 0.6 MB), else the whole library (1.9 MB).
"""

from __future__ import annotations

import base64
import gzip
import html
import math
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs, get_plotlyjs_version

from downbeat_toe import version as package

WIDTH = 1000  # px, of plots and of the page
LEGEND = 180  # px of them, beside the curves
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
DASHES = ("solid", "dash", "dot", "dashdot")  # each for ten curves
MOST_POINTS = 4000  # of a curve; of more, the extremes of each stretch
BASIC = Path(sys.prefix) / "share" / "downbeat" / "plotly-basic.min.js"  # scripts/setup.sh
BASIC_TRACES = {"bar", "pie", "scatter"}
TITLE_PX = 7.2  # of a letter of a plot's title

STYLE = """
@page { size: A4 portrait; margin: 10mm }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; margin: 2em auto; padding: 0 1em; max-width: 1000px }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 1.6em } h3 { font-size: 1em; margin: 1.2em 0 0.5em }
h2, h3 { break-after: avoid }
.plot { width: 1000px; break-inside: avoid }
.wide { overflow-x: auto; margin-top: 0.8em }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; max-width: 100% }
td, th { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid #ddd }
td { overflow-wrap: anywhere } td:first-child { min-width: 4em } th { background: #f4f4f4 }
tr { break-inside: avoid }
td.text, th.text { text-align: left }
.passed { color: #1a7f37 } .failed { color: #b42318 }
footer { margin-top: 2em; padding-top: 0.6em; border-top: 1px solid #ddd; font-size: 13px; color: #555 }
@media print { details:not([open]), .hint { display: none } body { zoom: 0.7; margin: 0; padding: 0 } }
"""
# The library is unpacked when the page opens (Compression Streams, in browsers since 2023), then the plots are drawn.
SCRIPT = """
const packed = document.getElementById("plotly").textContent;
const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
new Response(unpacked).text().then(text => {
  (0, eval)(text);
  for (const plot of document.querySelectorAll("div.plot"))
    Plotly.newPlot(plot, {...JSON.parse(plot.nextElementSibling.textContent), config: {displayModeBar: false}});
});
"""


class Link(NamedTuple):
    """A cell of a table that leads to a place of the page."""

    text: str
    place: str  # an element's id


def number(value: float | None) -> str:
    """Four significant digits, three decimals at most; what would round to zero is said to be less than a
    thousandth."""
    if value is None or math.isnan(value):
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}".removeprefix("-") if value == 0 else f"{value:g}"
    if abs(value) < 0.001:
        return "<0.001" if value > 0 else ">-0.001"
    decimals = min(max(3 - math.floor(math.log10(abs(value))), 0), 3)
    return f"{value:,.{decimals}f}"


def thinned(x: Sequence[float], y: Sequence[float | None]) -> tuple[list[float], list[float | None]]:
    """A curve's points, or of a long one the first, last, smallest and largest of each stretch."""
    if len(x) <= MOST_POINTS:
        return list(x), list(y)
    kept: list[int] = []
    length = len(x) * 4 / MOST_POINTS
    for stretch in range(MOST_POINTS // 4):
        part = range(round(stretch * length), round((stretch + 1) * length))
        known = [index for index in part if y[index] is not None] or [part[0]]
        values = sorted(known, key=lambda index: y[index] or 0.0)
        kept += sorted({part[0], values[0], values[-1], part[-1]})
    return [x[index] for index in kept], [y[index] for index in kept]


def line(number: int) -> dict[str, Any]:
    """A curve's line, another one for each of the first 40."""
    again, colour = divmod(number, len(COLOURS))
    return {"color": COLOURS[colour], "dash": DASHES[again % len(DASHES)], "width": 1.2}


def finish(figure: go.Figure, *, row_height: int = 300, each: bool = False) -> go.Figure:
    """Gives subplots the theme, space for their titles and legends; `each`: a legend beside each row, not one for
    all."""
    rows, columns = _grid(figure)
    figure.update_layout(
        width=WIDTH,
        height=row_height * rows + 90,
        template="plotly_white",
        colorway=COLOURS,
        font={"family": "system-ui, sans-serif", "size": 12, "color": "#222"},
        margin={"t": 50, "b": 50, "l": 70, "r": LEGEND},
        hovermode="closest",
    )
    letters = int((WIDTH - 70 - LEGEND) / columns / TITLE_PX) - 4
    for title in figure.layout.annotations:
        title.text = "<br>".join(textwrap.wrap(title.text, letters))
        title.font.size = 13
    figure.update_xaxes(showline=True, linecolor="#999", ticks="outside", title_standoff=6, automargin=True)
    figure.update_yaxes(showline=True, linecolor="#999", ticks="outside", title_standoff=6, automargin=True)
    beside = {"x": 1.02, "xanchor": "left", "yanchor": "top", "font": {"size": 11}, "itemwidth": 30}
    if not each:
        figure.update_layout(legend={**beside, "y": 1})
        return figure
    for row in range(1, rows + 1):
        name = "legend" if row == 1 else f"legend{row}"
        figure.update_traces(legend=name, row=row, col=1)
        figure.update_layout({name: {**beside, "y": figure.get_subplot(row, 1).yaxis.domain[1]}})
    return figure


def plot(figure: go.Figure) -> str:
    """A figure's place in the page, and its data. ValueError: a trace that Plotly's basic bundle has not."""
    if others := {trace.type for trace in figure.data} - BASIC_TRACES:
        raise ValueError(f"{', '.join(sorted(others))}: a page draws {', '.join(sorted(BASIC_TRACES))}")
    data = figure.to_json().replace("</", "<\\/")
    height = figure.layout.height
    return f'<div class="plot" style="height: {height}px"></div><script type="application/json">{data}</script>'


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], above: str = "", left: int = 1) -> str:
    """Numbers by the rule of `number`; `above`: a row of heads over several columns, as HTML; the first `left` columns
    are texts."""
    head = "".join(f"<th{_side(column < left)}>{html.escape(name)}</th>" for column, name in enumerate(heads))
    lines = [
        "".join(f"<td{_side(column < left)}>{_cell(value)}</td>" for column, value in enumerate(row)) for row in rows
    ]
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f'<div class="wide"><table><thead>{above}<tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _side(text: bool) -> str:
    return ' class="text"' if text else ""


def items(lines: Iterable[str], numbered: bool = False) -> str:
    listed = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    kind = "ol" if numbered else "ul"
    return f"<{kind}>{listed}</{kind}>" if listed else ""


def verdict(passed: bool, word: str = "") -> str:
    return (
        f'<b class="{"passed" if passed else "failed"}">{html.escape(word or ("passed" if passed else "FAILED"))}</b>'
    )


def page(title: str, body: str, *, command: str, seed: int | str | None = None) -> str:
    """The whole page. `command` is what makes it again; `seed`: None where there is none, words where there are several."""
    library = _library() if 'class="plot"' in body else ""
    scripts = f'<script type="text/plain" id="plotly">{library}</script><script>{SCRIPT}</script>' if library else ""
    drawn = "no seed" if seed is None else f"seed {seed}"
    hint = '<p class="hint">Drag in a plot to zoom, double-click to see all of it again.</p>' if library else ""
    source = f"{_date()}; Downbeat {version()}; {drawn}; <code>{html.escape(command)}</code>"
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Downbeat: {html.escape(title)}</title><style>{STYLE}</style></head><body>
<h1>{html.escape(title)}</h1>
{body}
{hint}
<footer>{source}</footer>
{scripts}
</body></html>
"""


def command_line(target: str, *names: str) -> str:
    """The make line, with those of these variables that are set."""
    given = (f"{name}={_quoted(os.environ[name])}" for name in names if os.environ.get(name))
    return " ".join([f"make {target}", *given])


def _library() -> str:
    """Plotly, compressed, in letters: the bundle with few traces if it is of the library's version."""
    whole = f"plotly.js v{get_plotlyjs_version()}"
    basic = BASIC.read_text() if BASIC.exists() else ""
    text = basic if whole.replace("plotly.js", "plotly.js (basic - minified)") in basic[:200] else get_plotlyjs()
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _quoted(text: str) -> str:
    return f"'{text}'" if set(text) & set(" ,;") else text


def _cell(value: object) -> str:
    if isinstance(value, Link):
        return f'<a href="#{html.escape(value.place)}">{html.escape(value.text)}</a>'
    if isinstance(value, float):
        return html.escape(number(value))
    return html.escape(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))


def _grid(figure: go.Figure) -> tuple[int, int]:
    """Rows and columns; one of each for a figure without subplots."""
    grid: Any = figure._grid_ref
    return (len(grid), len(grid[0])) if grid else (1, 1)


def _date() -> str:
    """UTC; SOURCE_DATE_EPOCH makes a page that can be made again."""
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def version() -> str:
    """The release, and the commit where this is a clone."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        commit = subprocess.run(command, text=True, capture_output=True, check=False, timeout=10).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        commit = ""
    release = package.number()
    return f"{release} ({commit})" if commit else release


def again() -> str:
    """This process's own command line, for programs that are no targets of make."""
    name = Path(sys.argv[0]).name
    return " ".join(["downbeat" if name == "__main__.py" else name, *map(_quoted, sys.argv[1:])])
