# SPDX-License-Identifier: BSD-2-Clause-Patent
"""linearity.html: figures 4-6 to 4-9, Plotly included."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from downbeat_toe import pages
from plotly.subplots import make_subplots

from sim.experiments.linearity.figures import model

BLUE, GREY, ORANGE = "#1f77b4", "#999999", "#ff7f0e"


def render(report: dict[str, Any]) -> str:
    titles = [
        f"Figure {figure['figure']}: {figure['cross_sources']} x 250 kb/s, {_meets(figure)}"
        for figure in report["figures"]
    ]
    plots = make_subplots(rows=2, cols=2, subplot_titles=titles, vertical_spacing=0.16, horizontal_spacing=0.1)
    for number, figure in enumerate(report["figures"]):
        _draw(plots, number // 2 + 1, number % 2 + 1, figure, number == 0)
    plots.update_xaxes(title_text="sent gap, ms", range=[0, 42], dtick=4)
    plots.update_yaxes(title_text="received gap, ms", range=[0, 52], dtick=8)
    pages.finish(plots, row_height=390)
    word = "" if report["passed"] or report["failures"] else "too short to judge"
    body = f"""<p>{pages.verdict(report["passed"], word)}. Pairs of 1,000 bytes from our launch gate over ns-3's dumbbell of
1 Mb/s to our receive stamps, beside packets of 210 bytes; {report["seconds"]:g} simulated seconds for each point.</p>
{pages.items([*report["failures"], *report["doubts"]])}
{pages.plot(plots)}"""
    command = pages.command_line("experiment", "NAME", "SEED", "DURATION")
    return pages.page("Sent gap against received gap", body, command=command, seed=report["seed"])


def _meets(figure: dict[str, Any]) -> str:
    def text(gap: int | None) -> str:
        return f"at {gap} ms" if gap else "never"

    return f"meets y = x {text(figure['meets_ms'])} (published: {text(figure['published_ms'])})"


def _draw(plots: go.Figure, row: int, col: int, figure: dict[str, Any], legend: bool) -> None:
    points = figure["points"]
    sent = [point["gap_ms"] for point in points]
    received = [point["received_ms"] for point in points]
    spread = {
        "type": "data",
        "symmetric": False,
        "array": [point["p95_ms"] - point["received_ms"] for point in points],
        "arrayminus": [point["received_ms"] - point["p5_ms"] for point in points],
        "thickness": 1,
    }
    fluid = [model(gap, figure["cross_sources"]) for gap in sent]
    shared: dict[str, Any] = {"row": row, "col": col, "showlegend": legend}
    plots.add_scatter(x=[0, 52], y=[0, 52], name="y = x", line={"color": GREY, "width": 1}, mode="lines", **shared)
    plots.add_scatter(
        x=sent, y=fluid, name="max(x, 8 + share x)", line={"color": ORANGE, "dash": "dot"}, mode="lines", **shared
    )
    plots.add_scatter(
        x=sent, y=received, name="received, mean; 5 to 95 %", line={"color": BLUE}, error_y=spread, **shared
    )
