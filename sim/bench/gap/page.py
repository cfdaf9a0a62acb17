# SPDX-License-Identifier: BSD-2-Clause-Patent
"""gap.html: one file that holds everything, Plotly included."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
from downbeat_toe import pages
from plotly.subplots import make_subplots

from sim.bench.gap import table

CAUSES = {"busy": "#1f77b4", "inverted": "#ff7f0e", "arrived": "#d62728"}
LINES = {"color": "grey", "dash": "dot", "width": 1}
Figures = dict[str, Any]


def render(report: dict[str, Any]) -> str:
    cases = [figures for figures in report["cases"] if "late" in figures]
    late = [case for case in cases if case["late"]]
    plots: dict[str, tuple[Callable[..., None], list[Figures], *tuple[str, ...]]] = {
        "SFD after its launch time, schedules without conflict": (
            _histograms,
            [case for case in cases if case["case"].startswith("schedule")],
            "error_ns",
        ),
        "Error of sent and measured gaps against the gap": (
            _gaps,
            [case for case in cases if case["case"].startswith("pairs timed")],
        ),
        "Conflicting schedules: late frames by cause": (_causes, late),
        "Lateness of frames that met others: median to 99.9th percentile and largest": (_lateness, late),
        "Rate error at the pins, against the time it is taken over": (
            _rates,
            [case for case in cases if "rate_error" in case and not case["late"]],
        ),
        "Receive stamp less the pins, far end's clock 100 ppm apart": (
            _histograms,
            [case for case in cases if "far clock" in case["case"]],
            "receive_stamp_error_ns",
        ),
    }
    shown = {title: plot for title, plot in plots.items() if plot[1]}  # a schedule from a file has the tables alone
    if not shown:
        return _page(report, "")
    figure = make_subplots(rows=len(shown), subplot_titles=list(shown), vertical_spacing=0.36 / len(shown))
    for row, (draw, drawn, *names) in enumerate(shown.values(), 1):
        draw(figure, row, drawn, *names)
    figure.update_layout(barmode="stack")
    pages.finish(figure, row_height=215, each=True)
    return _page(report, pages.plot(figure))


def _histograms(figure: go.Figure, row: int, cases: Sequence[Figures], name: str) -> None:
    for case in cases:
        histogram, count = case[name]["histogram"], case[name]["count"]
        x = [histogram["first"] + (i + 0.5) * histogram["width"] for i in range(len(histogram["counts"]))]
        y = [
            share / count / histogram["width"] for share in histogram["counts"]
        ]  # a density: cases differ in their bins
        figure.add_scatter(x=x, y=y, name=case["case"], line={"shape": "hvh", "width": 1.3}, row=row, col=1)
    figure.update_yaxes(title_text="share per ns", rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text="ns", row=row, col=1)


def _gaps(figure: go.Figure, row: int, cases: Sequence[Figures]) -> None:
    points = [point for case in cases for point in case["asked_sent_measured_ns"]]
    requested = [point[0] for point in points]
    marks = {"size": 3}
    for name, errors in (
        ("sent less asked", [point[1] - point[0] for point in points]),
        ("measured less sent", [point[2] - point[1] for point in points]),
    ):
        x, y = pages.thinned(*_in_order(requested, errors))
        figure.add_scatter(x=x, y=y, name=name, mode="markers", marker=marks, row=row, col=1)
    figure.update_xaxes(type="log", title_text="gap asked for, ns", exponentformat="SI", row=row, col=1)
    figure.update_yaxes(title_text="error, ns", row=row, col=1)


def _causes(figure: go.Figure, row: int, cases: Sequence[Figures]) -> None:
    for cause, colour in CAUSES.items():
        counts = [100 * case["late_by_cause"][cause] / case["frames"] for case in cases]
        names = [case["case"] for case in cases]
        figure.add_bar(y=names, x=counts, name=cause, orientation="h", marker_color=colour, row=row, col=1)
    figure.update_xaxes(title_text="% of frames", row=row, col=1)
    figure.update_yaxes(automargin=True, row=row, col=1)


def _lateness(figure: go.Figure, row: int, cases: Sequence[Figures]) -> None:
    for case in cases:
        spread = case["lateness_ns"]
        values = [spread[name] / 1e3 for name in ("p50", "p99", "p99_9", "max")]
        figure.add_scatter(x=["p50", "p99", "p99.9", "max"], y=values, name=case["case"], row=row, col=1)
    figure.update_yaxes(type="log", title_text="late by, us", row=row, col=1)


def _rates(figure: go.Figure, row: int, cases: Sequence[Figures]) -> None:
    spans = [0.05, 20]
    figure.add_scatter(
        x=spans, y=[8e-9 / span for span in spans], name="a byte time", mode="lines", line=LINES, row=row, col=1
    )
    floor = 1e-13  # an exact value has no logarithm
    figure.add_scatter(
        x=[case["rate_seconds"] for case in cases],
        y=[max(case["rate_error"], floor) for case in cases],
        text=[case["case"] for case in cases],
        name=f"case (exact ones at {floor:g})",
        mode="markers",
        row=row,
        col=1,
    )
    figure.update_xaxes(type="log", title_text="taken over, s", row=row, col=1)
    figure.update_yaxes(type="log", title_text="relative rate error", exponentformat="power", row=row, col=1)


def _in_order(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    points = sorted(zip(x, y, strict=True))
    return [point[0] for point in points], [point[1] for point in points]


def _table(cases: Sequence[Figures]) -> str:
    """A table for each quantity: all beside each other are wider than a page."""
    quantities = {"SFD after launch": "error_ns", "Lateness": "lateness_ns", "Sent gap": "sent_gap_error_ns"}
    quantities["Measured gap"] = "measured_gap_error_ns"
    shown = ("min", "p50", "p99", "p99_9", "max")
    heads = ["case", "frames", "late", *(f"{name.replace('_', '.')}, ns" for name in shown)]
    tables = ""
    for title, name in quantities.items():
        own = [figures for figures in cases if figures.get(name)]
        rows = [
            [figures["case"], *table.row(figures)[1:3], *(float(figures[name][each]) for each in shown)]
            for figures in own
        ]
        tables += f"<h2>{title}</h2>{pages.table(heads, rows)}" if rows else ""
    return tables


def _page(report: Figures, plot: str) -> str:
    commands = "".join(f"<li><code>{html.escape(figures['command'])}</code></li>" for figures in report["cases"])
    body = f"""<p>{pages.verdict(report["passed"])}. Pacer, launch gate and MAC in simulation, observed at the GMII pins.</p>
{pages.items(report["failures"])}
{plot}
{_table(report["cases"])}
<details><summary>Commands</summary><ul>{commands}</ul></details>"""
    return pages.page("The gap bench", body, command=pages.command_line("gap", "SEED", "SCHEDULE"), seed=report["seed"])
