# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ssipp.html: segments by round for each receiver, Plotly included."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from downbeat_toe import pages


def render(report: dict[str, Any]) -> str:
    plot = go.Figure()
    for run in report["runs"]:
        rounds = run["per_round"][:-1]  # the last is what is left of the file
        plot.add_scatter(x=list(range(1, len(rounds) + 1)), y=rounds, name=run["receiver"])
    plot.update_xaxes(title_text="round trip", dtick=1)
    plot.update_yaxes(title_text="segments", type="log")
    pages.finish(plot, row_height=500)
    captures = "".join(f'<li><a href="{run["capture"]}">{run["capture"]}</a></li>' for run in report["runs"])
    body = f"""<p>{pages.verdict(report["passed"])}. Segments in each round trip, from a window of one.</p>
{pages.items([*report["skipped"], *report["failures"]])}
{pages.plot(plot)}
<p>Captures of the core's wire:</p><ul>{captures}</ul>"""
    command = pages.command_line("experiment", "NAME", "SEED")
    return pages.page("SSIPP against receivers that delay ACKs", body, command=command, seed=report.get("seed"))
