# SPDX-License-Identifier: BSD-2-Clause-Patent
"""logistic_figures.html: figures 10, 12, 13 and 15, Plotly included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from downbeat_toe import pages
from plotly.subplots import make_subplots

COLOURS = {"core": "#1f77b4", "reno": "#999999", "highspeed": "#ff7f0e", "scalable": "#2ca02c"}
NAMES = {"core": "Downbeat, logistic", "reno": "ns-3 Reno", "highspeed": "ns-3 HighSpeed", "scalable": "ns-3 Scalable"}
GREY = "#555555"


def render(report: dict[str, Any]) -> str:
    titles = (
        "Figure 10: window, one connection, 100 Mb/s",
        "Figure 10: bottleneck queue",
        "Figure 12: link full after, by rate, UDP on a fifth of it",
        "Figure 13: link full after, by round trip, 100 Mb/s, UDP 20 Mb/s",
        "Figure 15: window while UDP comes and goes, 100 Mb/s",
        "Figure 15: bottleneck queue",
    )
    plots = make_subplots(rows=3, cols=2, subplot_titles=titles, vertical_spacing=0.11, horizontal_spacing=0.1)
    for line, figure in ((1, "figure_10"), (3, "figure_15")):
        for row in report[figure]:
            _curves(plots, row, line)
    _targets(plots, report["figure_15"])
    _times(plots, 1, report["figure_12"], "rate_mbps")
    _times(plots, 2, report["figure_13"], "rtt_ms")
    plots.update_yaxes(title_text="time, s", rangemode="tozero", row=2)
    for line in (1, 3):
        plots.update_yaxes(title_text="kB", rangemode="tozero", row=line)
        plots.update_xaxes(title_text="time, s", row=line)
    plots.update_xaxes(title_text="bottleneck, Mb/s", row=2, col=1)
    plots.update_xaxes(title_text="round trip, ms", row=2, col=2)
    pages.finish(plots, row_height=380)
    body = f"""<p>{pages.verdict(report["passed"])}. K and A are given to the connection; the buffer is one bandwidth-delay
product; a bandwidth counts payload.</p>{pages.items(report["failures"])}
{_table(report["convergence"])}
{pages.plot(plots)}"""
    command = pages.command_line("experiment", "NAME", "SEED", "DURATION", "FIGURE", "COMPARE")
    return pages.page("The logistic window over ns-3", body, command=command, seed=report["seed"])


def _curves(plots: go.Figure, row: dict[str, Any], line_of_page: int) -> None:
    line = {"color": COLOURS[row["sender"]], "width": 1.5}
    shared: dict[str, Any] = {"name": NAMES[row["sender"]], "line": line, "mode": "lines", "legendgroup": row["sender"]}
    curve = row["curve"]
    for col, values in ((1, curve["cwnd_bytes"]), (2, curve["queue_bytes"])):
        kilobytes = [value / 1e3 for value in values]
        plots.add_scatter(
            x=curve["seconds"],
            y=kilobytes,
            showlegend=(line_of_page, col) == (1, 1),
            row=line_of_page,
            col=col,
            **shared,
        )


def _targets(plots: go.Figure, rows: Sequence[dict[str, Any]]) -> None:
    """w* of each phase."""
    for row in (row for row in rows if row["sender"] == "core"):
        begins = [phase["begin_seconds"] for phase in row["phases"]]
        targets = [phase["target_bytes"] / 1e3 for phase in row["phases"]]
        plots.add_scatter(
            x=[*begins, row["virtual_seconds"]],
            y=[*targets, targets[-1]],
            line={"color": GREY, "dash": "dot", "shape": "hv"},
            mode="lines",
            name="w*",
            row=3,
            col=1,
        )


def _times(plots: go.Figure, col: int, rows: Sequence[dict[str, Any]], over: str) -> None:
    for sender in dict.fromkeys(row["sender"] for row in rows):
        own = [row for row in rows if row["sender"] == sender]
        plots.add_scatter(
            x=[row[over] for row in own],
            y=[row["seconds_to_full_link"] for row in own],
            line={"color": COLOURS[sender]},
            name=NAMES[sender],
            legendgroup=sender,
            showlegend=False,
            row=2,
            col=col,
        )
    core = [row for row in rows if row["sender"] == "core"]
    plots.add_scatter(
        x=[row[over] for row in core],
        y=[row["equation_12_seconds"] for row in core],
        line={"color": GREY, "dash": "dot"},
        name="equation 12",
        legendgroup="equation",
        showlegend=col == 1,
        row=2,
        col=col,
    )


def _table(rows: Sequence[dict[str, Any]]) -> str:
    heads = ["Mb/s", "to 99 %, s", "Eq. 12, s", "last second", "of w*", "lost", "retransmitted"]
    cells = (
        [
            f"{row['rate_mbps']:g}",
            row["seconds_to_99"],
            row["equation_12_seconds"],
            f"{row['goodput_last_second']:.1%}",
            f"{row['goodput_of_target']:.1%}",
            row["queue_drops"],
            row["retransmissions"],
        ]
        for row in rows
    )
    return pages.table(heads, cells)
