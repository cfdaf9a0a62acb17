# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ssipp.html: segments by round for each receiver, Plotly included."""

from __future__ import annotations

import html
from typing import Any

import plotly.graph_objects as go


def render(report: dict[str, Any]) -> str:
    plot = go.Figure()
    for run in report["runs"]:
        rounds = run["per_round"][:-1]  # the last is what is left of the file
        plot.add_scatter(x=list(range(1, len(rounds) + 1)), y=rounds, name=run["receiver"])
    plot.update_xaxes(title_text="round trip", dtick=1)
    plot.update_yaxes(title_text="segments", type="log")
    plot.update_layout(height=600, template="plotly_white", margin={"t": 40})
    verdict = "passed" if report["passed"] else "FAILED"
    failures = "".join(f"<li>{html.escape(line)}</li>" for line in (*report["skipped"], *report["failures"]))
    captures = "".join(f'<li><a href="{run["capture"]}">{run["capture"]}</a></li>' for run in report["runs"])
    figure = plot.to_html(full_html=False, include_plotlyjs=True, div_id="ssipp")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Downbeat: make experiment NAME=ssipp</title>
<style>body {{ font-family: sans-serif; margin: 2em auto; max-width: 1200px }}</style></head><body>
<h1>SSIPP against receivers that delay ACKs</h1>
<p>Segments in each round trip, from a window of one: <b>{verdict}</b></p><ul>{failures}</ul>
{figure}
<p>Captures of the core's wire:</p><ul>{captures}</ul>
</body></html>
"""
