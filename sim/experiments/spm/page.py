# SPDX-License-Identifier: BSD-2-Clause-Patent
"""spm.html: samples and estimates beside the model, path by path, Plotly included."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from downbeat_toe import pages
from plotly.subplots import make_subplots

from sim.experiments.spm.transfer import PACKET_MS

BLUE, GREY, ORANGE, GREEN, BLACK = "#1f77b4", "#999999", "#ff7f0e", "#2ca02c", "#000000"
MOST_MS = 44


def render(report: dict[str, Any]) -> str:
    titles = [f"{path['cross_sources']} sources: {_said(path)}" for path in report["paths"]]
    plots = make_subplots(rows=2, cols=2, subplot_titles=titles, vertical_spacing=0.16, horizontal_spacing=0.1)
    for number, path in enumerate(report["paths"]):
        _draw(plots, number // 2 + 1, number % 2 + 1, path, number == 0)
    plots.update_xaxes(title_text="gap at departure, ms", range=[0, MOST_MS], dtick=4)
    plots.update_yaxes(title_text="gap at arrival, ms", range=[0, MOST_MS + 8], dtick=8)
    pages.finish(plots, row_height=390)
    body = f"""<p>{pages.verdict(report["passed"])}. {report["runs"]} runs for each path; dots: the samples of all runs, lines:
the estimate of each run; Hoe's window beside SPM's in the titles.</p>{pages.items(report["failures"])}
{pages.plot(plots)}"""
    command = pages.command_line("experiment", "NAME", "SEED", "RUNS")
    return pages.page(
        "SPM: what pairs say of a path with constant-rate traffic", body, command=command, seed=report["seed"]
    )


def _said(path: dict[str, Any]) -> str:
    met = f"at {path['meets_ms']} ms" if path["meets_ms"] else "never"
    return (
        f"means meet y = x {met} (published: {path['published_ms'] or 'never'}); "
        f"{_number(path['median_segments'])} segments, Hoe {_number(path['hoe_median_segments'])}"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _draw(plots: go.Figure, row: int, col: int, path: dict[str, Any], legend: bool) -> None:
    samples = [sample for run in path["spm"] for sample in run["samples"]]
    fluid = [max(gap, PACKET_MS + 0.25 * path["cross_sources"] * gap) for gap in range(MOST_MS)]
    shared: dict[str, Any] = {"row": row, "col": col, "showlegend": legend}
    plots.add_scatter(x=[0, 52], y=[0, 52], name="y = x", line={"color": GREY, "width": 1}, mode="lines", **shared)
    plots.add_scatter(
        x=list(range(MOST_MS)), y=fluid, name="max(x, 8 + share x)", line={"color": ORANGE, "dash": "dot"}, **shared
    )
    plots.add_scatter(
        x=[x for x, _ in samples],
        y=[y for _, y in samples],
        name="sample",
        mode="markers",
        marker={"color": BLUE, "size": 4, "opacity": 0.4},
        **shared,
    )
    plots.add_scatter(
        x=path["input_gaps_ms"],
        y=path["mean_output_gaps_ms"],
        name="mean",
        mode="markers",
        marker={"color": BLACK, "size": 9, "symbol": "x"},
        **shared,
    )
    for number, run in enumerate(run for run in path["spm"] if run["gap_ms"] is not None):
        plots.add_scatter(
            x=[run["gap_ms"]] * 2,
            y=[0, run["gap_ms"]],
            name="estimate",
            mode="lines",
            line={"color": GREEN, "width": 1},
            row=row,
            col=col,
            showlegend=legend and number == 0,
        )
