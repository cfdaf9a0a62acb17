# SPDX-License-Identifier: BSD-2-Clause-Patent
"""gap.html: one file that holds everything, Plotly included."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sim.bench.gap import table

CAUSES = {"busy": "#1f77b4", "inverted": "#ff7f0e", "arrived": "#d62728"}
LINES = {"color": "grey", "dash": "dot", "width": 1}
Figures = dict[str, Any]


def render(report: dict[str, Any]) -> str:
    cases = [figures for figures in report["cases"] if "late" in figures]
    titles = (
        "SFD after its launch time, schedules without conflict (ns)",
        "Error of sent and measured gaps against the gap (ns)",
        "Conflicting schedules: late frames by cause",
        "Lateness of frames that met others (us): median to 99.9th percentile and largest",
        "Rate error at the pins, against the time it is taken over",
        "Receive stamp less the pins (ns), far end's clock 100 ppm apart",
    )
    figure = make_subplots(rows=3, cols=2, subplot_titles=titles, vertical_spacing=0.1, horizontal_spacing=0.08)
    late = [case for case in cases if case["late"]]
    _histograms(figure, 1, 1, [case for case in cases if case["case"].startswith("schedule")], "error_ns")
    _gaps(figure, 1, 2, [case for case in cases if case["case"].startswith("pairs timed")])
    _causes(figure, 2, 1, late)
    _lateness(figure, 2, 2, late)
    _rates(figure, 3, 1, [case for case in cases if "rate_error" in case and not case["late"]])
    _histograms(figure, 3, 2, [case for case in cases if "far clock" in case["case"]], "receive_stamp_error_ns")
    figure.update_layout(height=1300, template="plotly_white", barmode="stack", margin={"t": 40})
    for row in range(1, 4):
        for col in (1, 2):
            plot = figure.get_subplot(row, col)
            legend = f"legend{2 * (row - 1) + col}"
            figure.update_traces(legend=legend, row=row, col=col)
            top, right = plot.yaxis.domain[1], plot.xaxis.domain[1]
            figure.update_layout(
                {
                    legend: {
                        "x": right,
                        "y": top,
                        "xanchor": "right",
                        "yanchor": "top",
                        "bgcolor": "rgba(255,255,255,0.6)",
                    }
                }
            )
    return _page(report, figure.to_html(full_html=False, include_plotlyjs=True, div_id="gap"))


def _histograms(figure: go.Figure, row: int, col: int, cases: Sequence[Figures], name: str) -> None:
    for case in cases:
        histogram, count = case[name]["histogram"], case[name]["count"]
        x = [histogram["first"] + (i + 0.5) * histogram["width"] for i in range(len(histogram["counts"]))]
        y = [
            share / count / histogram["width"] for share in histogram["counts"]
        ]  # a density: cases differ in their bins
        figure.add_scatter(x=x, y=y, name=case["case"], line={"shape": "hvh", "width": 1.3}, row=row, col=col)
    figure.update_yaxes(title_text="share per ns", rangemode="tozero", row=row, col=col)


def _gaps(figure: go.Figure, row: int, col: int, cases: Sequence[Figures]) -> None:
    points = [point for case in cases for point in case["asked_sent_measured_ns"]]
    asked = [point[0] for point in points]
    marks = {"size": 3}
    for name, errors in (
        ("sent less asked", [point[1] - point[0] for point in points]),
        ("measured less sent", [point[2] - point[1] for point in points]),
    ):
        figure.add_scattergl(x=asked, y=errors, name=name, mode="markers", marker=marks, row=row, col=col)
    figure.update_xaxes(type="log", title_text="gap asked for, ns", row=row, col=col)


def _causes(figure: go.Figure, row: int, col: int, cases: Sequence[Figures]) -> None:
    for cause, colour in CAUSES.items():
        counts = [100 * case["late_by_cause"][cause] / case["frames"] for case in cases]
        names = [case["case"] for case in cases]
        figure.add_bar(y=names, x=counts, name=cause, orientation="h", marker_color=colour, row=row, col=col)
    figure.update_xaxes(title_text="% of frames", row=row, col=col)
    figure.update_yaxes(automargin=True, row=row, col=col)


def _lateness(figure: go.Figure, row: int, col: int, cases: Sequence[Figures]) -> None:
    for case in cases:
        spread = case["lateness_ns"]
        values = [spread[name] / 1e3 for name in ("p50", "p99", "p99_9", "max")]
        figure.add_scatter(x=["p50", "p99", "p99.9", "max"], y=values, name=case["case"], row=row, col=col)
    figure.update_yaxes(type="log", row=row, col=col)


def _rates(figure: go.Figure, row: int, col: int, cases: Sequence[Figures]) -> None:
    spans = [0.05, 20]
    figure.add_scatter(
        x=spans, y=[8e-9 / span for span in spans], name="a byte time", mode="lines", line=LINES, row=row, col=col
    )
    least = 1e-13  # what is exact has no logarithm
    figure.add_scatter(
        x=[case["rate_seconds"] for case in cases],
        y=[max(case["rate_error"], least) for case in cases],
        text=[case["case"] for case in cases],
        name=f"case (exact ones at {least:g})",
        mode="markers",
        row=row,
        col=col,
    )
    figure.update_xaxes(type="log", title_text="s", row=row, col=col)
    figure.update_yaxes(type="log", exponentformat="power", row=row, col=col)


def _table(cases: Sequence[Figures]) -> str:
    columns = {"SFD after launch": "error_ns", "lateness": "lateness_ns", "sent gap": "sent_gap_error_ns"}
    columns["measured gap"] = "measured_gap_error_ns"
    shown = ("min", "p50", "p99", "p99_9", "max")
    heads = "".join(f"<th colspan={len(shown)}>{name}, ns</th>" for name in columns)
    names = "".join(f"<th>{name.replace('_', '.')}</th>" for _ in columns for name in shown)
    rows = ""
    for figures in cases:
        spreads = [figures.get(name) for name in columns.values()]
        values = [f"{spread[name]:.6g}" if spread else "-" for spread in spreads for name in shown]
        counts = [figures["case"], *table.row(figures)[1:3], *values]
        rows += "<tr>" + "".join(f"<td>{html.escape(value)}</td>" for value in counts) + "</tr>\n"
    return f"<table><tr><th colspan=3></th>{heads}</tr><tr><th>case</th><th>frames</th><th>late</th>{names}</tr>\n{rows}</table>"


def _page(report: dict[str, Any], plot: str) -> str:
    verdict = "passed" if report["passed"] else "FAILED"
    failures = "".join(f"<li>{html.escape(failure)}</li>" for failure in report["failures"])
    commands = "".join(f"<li><code>{html.escape(figures['command'])}</code></li>" for figures in report["cases"])
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Downbeat: make gap</title>
<style>
body {{ font-family: sans-serif; margin: 2em auto; max-width: 1400px }}
table {{ border-collapse: collapse; font-size: 80% }}
td, th {{ padding: 0.2em 0.6em; text-align: right; border-bottom: 1px solid #ddd }}
td:first-child {{ text-align: left; white-space: nowrap }}
</style></head><body>
<h1>The gap bench</h1>
<p>Pacer, launch gate and MAC in simulation, observed at the GMII pins; seed {report["seed"]}: <b>{verdict}</b></p>
<ul>{failures}</ul>
{plot}
<h2>Percentiles</h2>
{_table(report["cases"])}
<details><summary>Commands</summary><ul>{commands}</ul></details>
</body></html>
"""
