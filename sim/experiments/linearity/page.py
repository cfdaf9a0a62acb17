# SPDX-License-Identifier: BSD-2-Clause-Patent
"""linearity.html: figures 4-6 to 4-9, Plotly included."""

from __future__ import annotations

import html
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sim.experiments.linearity.figures import model

BLUE, GREY, ORANGE = "#1f77b4", "#999999", "#ff7f0e"


def render(report: dict[str, Any]) -> str:
    titles = [
        f"Figure {figure['figure']}: {figure['cross_sources']} x 250 kb/s, {_meets(figure)}"
        for figure in report["figures"]
    ]
    plots = make_subplots(rows=2, cols=2, subplot_titles=titles, vertical_spacing=0.12)
    for number, figure in enumerate(report["figures"]):
        _draw(plots, number // 2 + 1, number % 2 + 1, figure, number == 0)
    plots.update_xaxes(title_text="sent gap, ms", range=[0, 42], dtick=4)
    plots.update_yaxes(title_text="received gap, ms", range=[0, 52], dtick=8)
    plots.update_layout(height=900, template="plotly_white", margin={"t": 40})
    verdict = "passed" if report["passed"] else "FAILED"
    failures = "".join(f"<li>{html.escape(failure)}</li>" for failure in report["failures"])
    plot = plots.to_html(full_html=False, include_plotlyjs=True, div_id="linearity")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Downbeat: make experiment NAME=linearity</title>
<style>body {{ font-family: sans-serif; margin: 2em auto; max-width: 1200px }}</style></head><body>
<h1>Sent gap against received gap</h1>
<p>Pairs of 1,000 bytes from our launch gate over ns-3's dumbbell of 1 Mb/s to our receive stamps;
{report["seconds"]:g} virtual seconds for each point, seed {report["seed"]}: <b>{verdict}</b></p><ul>{failures}</ul>
{plot}
</body></html>
"""


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
