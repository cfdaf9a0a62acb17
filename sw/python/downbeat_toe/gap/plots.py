# SPDX-License-Identifier: BSD-2-Clause-Patent
"""gap-*.html: one file that holds everything, Plotly included."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from downbeat_toe import pages
from downbeat_toe.gap import notes
from downbeat_toe.gap.analysis import Analysis

POINTS = 4_000  # that a plot over time shows; of more, the extremes of each stretch
TITLES = ("gap error: density", "gap error: share of gaps above it", "time error", "Allan deviation")
AXES = (
    ("gap error, ns", "share per ns"),
    ("|gap error|, ns", "share"),
    ("time, s", "us"),
    ("interval, s", "deviation"),
)


def write(path: Path, title: str, analyses: dict[str, Analysis]) -> None:
    figure = make_subplots(rows=2, cols=2, subplot_titles=TITLES, vertical_spacing=0.16, horizontal_spacing=0.12)
    for (name, analysis), colour in zip(analyses.items(), pages.COLOURS, strict=False):
        _add(figure, name, analysis, colour)
    for place, (across, up) in enumerate(AXES):
        figure.update_xaxes(title_text=across, row=place // 2 + 1, col=place % 2 + 1)
        figure.update_yaxes(title_text=up, row=place // 2 + 1, col=place % 2 + 1)
    pages.finish(figure, row_height=390)
    decades = {"type": "log", "exponentformat": "power", "nticks": 6}
    figure.update_yaxes(**decades, row=1, col=1)
    figure.update_xaxes(**decades | {"exponentformat": "SI", "tickangle": 0, "nticks": 4}, row=1, col=2)
    figure.update_yaxes(**decades, row=1, col=2)
    figure.update_xaxes(**decades, minorloglabels="none", row=2, col=2)
    figure.update_yaxes(**decades, row=2, col=2)
    sentences = "".join(f"<p>{html.escape(_sentence(name, analysis))}</p>" for name, analysis in analyses.items())
    main = next(iter(analyses.values()))
    limits = pages.items(dict.fromkeys(note for analysis in analyses.values() for note in analysis.data["notes"]))
    path.write_text(
        pages.page(
            title,
            f"{_verdict(main)}{sentences}{limits}{pages.plot(figure)}{_worst(main)}",
            command=pages.again(),
        )
    )


def _verdict(main: Analysis) -> str:
    verdict = main.data.get("verdict")
    if verdict is None:
        return ""
    mark = "b" if verdict["sure"] else "span"
    said = "".join(f"<p><{mark}>{html.escape(sentence)}</{mark}></p>" for sentence in verdict["sentences"])
    rows = [[cause["cause"], float(cause["standard_uncertainty_ns"])] for cause in verdict["budget"]]
    return said + (pages.table(["cause", "standard uncertainty, ns"], rows) if rows else "")


def _worst(main: Analysis) -> str:
    heads = ["entry", "flow", "launch, ns", "scheduled gap, ns", "gap error, ns"]
    rows = [
        [str(gap["entry"]), gap["flow"], gap["launch_ns"], gap["gap_ns"], gap["error_ns"]]
        for gap in main.data["worst_gaps"]
    ]
    return f"<h2>Worst gaps</h2>{pages.table(heads, rows, left=2)}"


def _add(figure: go.Figure, name: str, analysis: Analysis, colour: str) -> None:
    data = analysis.data
    line = {"color": colour, "width": 1.5}
    shared = {"name": name, "legendgroup": name}
    edges, counts = np.array(data["histogram"]["edges_ns"]), np.array(data["histogram"]["counts"])
    density = counts / len(analysis.gap_errors) / np.diff(edges)
    shown = density > 0  # a logarithmic axis has no zero
    across, up = np.append(edges[:-1][shown], edges[1:][shown][-1:]), np.append(density[shown], density[shown][-1:])
    figure.add_scatter(x=across, y=up, mode="lines", line={**line, "shape": "hv"}, row=1, col=1, **shared)
    distances = np.sort(np.abs(analysis.gap_errors))
    kept = np.unique(np.geomspace(1, len(distances), min(len(distances), 2000)).astype(int))  # ranks from the top
    worst = np.maximum(distances[-kept], 0.5)
    figure.add_scatter(
        x=worst, y=kept / len(distances), mode="lines", line=line, showlegend=False, row=1, col=2, **shared
    )
    shown = _extremes(analysis.rest)
    marks = {"color": colour, "size": 3}
    figure.add_scatter(
        x=analysis.times[shown] / 1e9,
        y=analysis.rest[shown] / 1e3,
        mode="markers",
        marker=marks,
        showlegend=False,
        row=2,
        col=1,
        **shared,
    )
    points = [point for point in data["allan"] if point["deviation"]]  # a logarithm has no zero
    taus = [point["tau_ns"] / 1e9 for point in points]
    deviations = [point["deviation"] for point in points]
    figure.add_scatter(
        x=taus, y=deviations, mode="lines+markers", line=line, marker=marks, showlegend=False, row=2, col=2, **shared
    )


def _extremes(values: np.ndarray) -> np.ndarray:
    """Which values to show: all, or of each stretch the smallest and the largest."""
    if len(values) <= POINTS:
        return np.arange(len(values))
    stretches = np.array_split(np.arange(len(values)), POINTS // 2)
    return np.unique(
        [index for part in stretches for index in (part[np.argmin(values[part])], part[np.argmax(values[part])])]
    )


def _sentence(name: str, analysis: Analysis) -> str:
    data = analysis.data
    errors, drift = data["gap_error_ns"], data["drift"]
    return (
        f"{name}: {data['gaps']['fine']} gaps, error p1 {errors['p1']:,.1f}, median {errors['p50']:,.1f}, "
        f"p99 {errors['p99']:,.1f}, worst {errors['worst']:,.1f} ns; "
        f"drift {drift['ppb']:.1f} ppb, {notes.treatment(drift)}. Stamps: {data['capture']['stamps']}."
    )
