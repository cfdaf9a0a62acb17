# SPDX-License-Identifier: BSD-2-Clause-Patent
"""experiments.html: for each experiment ours beside the published, and its plots; Plotly included."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from downbeat_toe import pages
from plotly.subplots import make_subplots

from sim.experiments.engine.measures import judge

# A table leaves out columns that no row fills.
HEADS = ("figure", "quantity", "unit", "published", "tolerance", "ours", "difference", "95 %", "sensitivity", "within")
COUNTS = ("published", "reproduced", "explained", "failed")
ROW = ("figure", "quantity", "published", "tolerance", "ours")


def render(reports: Sequence[Mapping[str, Any]], counts: Mapping[str, int], command: str) -> str:
    counted = ", ".join(f"{counts[name]} {name}" for name in COUNTS)
    verdict = pages.verdict(counts["failed"] == 0, counted) if counts["published"] else "Nothing is published of these"
    body = [f"<p>{verdict}. The senders are the Verilated core, but for cross traffic and pairs, which ns-3 sends.</p>"]
    body += [_contents(reports)] if len(reports) > 1 else []
    body += [_section(report) for report in reports]
    seeds = {report["seed"] for report in reports}
    return pages.page(
        "The papers' experiments",
        "\n".join(body),
        command=command,
        seed=seeds.pop() if len(seeds) == 1 else "of each as above",
    )


def _contents(reports: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for report in reports:
        counts = judge.counts(report["rows"])
        numbers = [counts[name] or "-" for name in COUNTS]
        rows.append([pages.Link(report["title"], report["name"]), report["source"], *numbers])
    return pages.table(["experiment", "source", *COUNTS], rows, left=2)


def _section(report: Mapping[str, Any]) -> str:
    about = f"{report['source']}. {report['form'].capitalize()} form: {report['simulated_seconds']:g} simulated seconds"
    about += (
        f", {report['runs_of_a_cell']} run{'s' * (report['runs_of_a_cell'] != 1)} of each cell, seed {report['seed']}."
    )
    parts = [f'<h2 id="{html.escape(report["name"])}">{html.escape(report["title"])}</h2><p>{html.escape(about)}</p>']
    parts += [_rows(report["rows"])] if report["rows"] else []
    reasons = _reasons(report["rows"])
    parts += [f"<p>Why ours differs:</p>{pages.items(reasons, numbered=True)}"] if reasons else []
    for listing in report["tables"]:
        shown = [["-" if one is None else one for one in row] for row in listing["rows"]]
        parts += [
            f"<h3>{html.escape(listing['title'])}</h3>",
            pages.table(listing["heads"], shown, left=listing["names"]),
        ]
    parts += [f"<p>Departs from the paper:</p>{pages.items(report['departs'])}"] if report["departs"] else []
    parts += [f"<p>Assumed:</p>{pages.items(report['assumed'])}"] if report["assumed"] else []
    parts += [pages.plot(_figure(report["plots"]))] if report["plots"] else []
    return "\n".join([*parts, pages.items(report["failures"])])


def _reasons(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The different reasons; rows refer to them by number."""
    return list(dict.fromkeys(row["explained"] for row in rows if row.get("explained")))


def _rows(rows: Sequence[Mapping[str, Any]]) -> str:
    reasons = _reasons(rows)
    cells = [_cells(row, reasons) for row in rows]
    filled = [column for column in range(len(HEADS)) if any(row[column] not in ("", "-") for row in cells)]
    return pages.table(
        [HEADS[at] for at in filled], [[row[at] for at in filled] for row in cells], left=3 if 2 in filled else 2
    )


def _cells(row: Mapping[str, Any], reasons: Sequence[str]) -> list[object]:
    low, high = row.get("confidence_95", (None, None))
    interval = "" if low is None else f"{pages.number(low)} to {pages.number(high)}"
    verdict = "yes" if row["within"] else "no"
    if row.get("explained"):
        verdict = f"explained:\N{NO-BREAK SPACE}{reasons.index(row['explained']) + 1}"
    if row["level"] == "goal":
        verdict = "goal met" if row["within"] else "goal missed"
    figure, quantity, *numbers = ("-" if row[key] is None else row[key] for key in ROW)
    return [figure, quantity, row.get("unit", ""), *numbers, difference(row), interval, _band(row), verdict]


def difference(row: Mapping[str, Any]) -> str:
    """Our difference in per cent of a published number; empty for a bound, a range or a ranking."""
    published, ours = row["published"], row["ours"]
    if not published or not isinstance(published, int | float) or not isinstance(ours, int | float):
        return ""
    return f"{ours / published - 1:+.1%}".replace("%", " %")


def _band(row: Mapping[str, Any]) -> str:
    """Range of our value over the values of `vary`; empty without them."""
    values = [one["ours"] for one in (row, *row.get("varied", ())) if isinstance(one["ours"], int | float)]
    return f"{pages.number(min(values))} to {pages.number(max(values))}" if row.get("varied") and values else ""


def _figure(plots: Sequence[Mapping[str, Any]]) -> go.Figure:
    figure = make_subplots(rows=len(plots), cols=1, subplot_titles=[plot["title"] for plot in plots])
    for row, plot in enumerate(plots, 1):
        marks = "lines" if plot["x"] == "time" else "lines+markers"
        for number, curve in enumerate(plot["curves"]):
            line = pages.line(number)
            if "low" in curve:
                around = {"x": [*curve["x"], *curve["x"][::-1]], "y": [*curve["high"], *curve["low"][::-1]]}
                band = {
                    "mode": "lines",
                    "line": {"width": 0},
                    "fill": "toself",
                    "fillcolor": line["color"],
                    "opacity": 0.15,
                }
                figure.add_scatter(**around, **band, hoverinfo="skip", showlegend=False, row=row, col=1)
            figure.add_scatter(
                x=curve["x"], y=curve["y"], name=curve["name"], mode=marks, line=line | {"width": 2}, row=row, col=1
            )
        figure.update_xaxes(title_text=plot.get("x_title", plot["x"]), row=row, col=1)
        figure.update_yaxes(title_text=plot["unit"], rangemode="tozero", row=row, col=1)
    return pages.finish(figure, row_height=340, each=True)
