# SPDX-License-Identifier: BSD-2-Clause-Patent
"""sim.html: one file that holds everything, Plotly included."""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sim.ns3.network import Transfer

NANOSECONDS = 1e9
COLOURS = {"flight": "#2ca02c", "ssthresh": "#d62728", "cwnd": "#1f77b4"}  # in the order of drawing: cwnd on top
SENDERS = ("#1f77b4", "#ff7f0e")  # where both share a plot: the core, its comparison
UNSET = 1 << 29  # bytes: an ssthresh that nobody has lowered yet
THROUGHPUT_SAMPLES = 4  # a point of throughput spans so many samples: one round trip


def write(path: Path, data: dict[str, Any], core: Transfer, reno: Transfer | None) -> None:
    senders = [("core", core), *([("ns-3 TcpLinuxReno", reno)] if reno else [])]
    titles = [f"{name}: cwnd, ssthresh, flight (kB)" for name, _ in senders] + [
        "bottleneck queue (kB)",
        "throughput (Mb/s)",
        "RTT (ms)",
    ]
    figure = make_subplots(rows=len(titles), shared_xaxes=True, vertical_spacing=0.05, subplot_titles=titles)
    for row, (name, transfer) in enumerate(senders, 1):
        _windows(figure, row, name, transfer.events)
        line = {"color": SENDERS[row - 1], "width": 1.2}
        shared = [_queue(transfer.series), _throughput(transfer.series), _rtt(transfer.events)]
        for below, (times, values) in enumerate(shared, len(senders) + 1):
            figure.add_scattergl(x=times, y=values, name=name, line=line, mode="lines", row=below, col=1)
    for row in range(1, len(titles) + 1):  # a legend beside each plot
        legend = "legend" if row == 1 else f"legend{row}"
        figure.update_traces(legend=legend, row=row, col=1)
        figure.update_layout({legend: {"x": 1.01, "y": figure.get_subplot(row, 1).yaxis.domain[1]}})
    figure.update_layout(height=280 * len(titles), template="plotly_white", hovermode="x unified", margin={"t": 40})
    figure.update_xaxes(title_text="s", row=len(titles))
    plot = figure.to_html(full_html=False, include_plotlyjs=True, div_id="downbeat")
    path.write_text(_page(data, plot))


def _windows(figure: go.Figure, row: int, name: str, events: Sequence[dict[str, str]]) -> None:
    rows = [event for event in events if event.get("live", "1") == "1" and event["cwnd"] not in ("0", "0.000")]
    times = [int(event["time_ns"]) / NANOSECONDS for event in rows]
    for quantity, colour in COLOURS.items():
        values = [float(event[quantity]) for event in rows]
        kilobytes = [value / 1e3 if value < UNSET else None for value in values]
        line = {"color": colour, "shape": "hv", "width": 1.2}
        figure.add_scattergl(x=times, y=kilobytes, name=quantity, line=line, mode="lines", row=row, col=1)
    again = [event for event in rows if event.get("retransmission") == "1"]
    if again:
        marks = {"symbol": "x", "color": "black", "size": 6}
        figure.add_scattergl(
            x=[int(event["time_ns"]) / NANOSECONDS for event in again],
            y=[float(event["cwnd"]) / 1e3 for event in again],
            name="retransmission",
            mode="markers",
            marker=marks,
            row=row,
            col=1,
        )


Points = tuple[list[float], list[float]]


def _queue(series: Sequence[dict[str, str]]) -> Points:
    times = [int(sample["time_ns"]) / NANOSECONDS for sample in series]
    return times, [int(sample["queue_bytes"]) / 1e3 for sample in series]


def _throughput(series: Sequence[dict[str, str]]) -> Points:
    points = series[::THROUGHPUT_SAMPLES]
    times, rates = [], []
    for before, after in itertools.pairwise(points):
        seconds = (int(after["time_ns"]) - int(before["time_ns"])) / NANOSECONDS
        times.append(int(after["time_ns"]) / NANOSECONDS)
        rates.append(8 * (int(after["received_bytes"]) - int(before["received_bytes"])) / seconds / 1e6)
    return times, rates


def _rtt(events: Sequence[dict[str, str]]) -> Points:
    samples = [event for event in events if event["rtt_ns"]]
    times = [int(event["time_ns"]) / NANOSECONDS for event in samples]
    return times, [int(event["rtt_ns"]) / 1e6 for event in samples]


def _page(data: dict[str, Any], plot: str) -> str:
    settings = data["settings"]
    path = (
        f"{settings['size']:,} bytes over {settings['rate'] / 1e6:g} Mb/s, {settings['rtt'] / 1e6:g} ms, buffer "
        f"{settings['buffer']['bytes']:,} bytes"
        + (f" or {settings['buffer']['packets']} packets" if settings["buffer"]["packets"] else "")
    )
    verdict = "passed" if data["passed"] else f"FAILED: {data['failure']}"
    comparison = data["comparison"]
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in (comparison["differences"] if comparison else []))
    given = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>"
        for name, value in data["ns3_settings"].items()
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Downbeat: make sim</title>
<style>body {{ font-family: sans-serif; margin: 2em auto; max-width: 1100px }} td {{ padding-right: 2em }}</style></head><body>
<h1>The core over ns-3</h1>
<p>{html.escape(path)}, loss {settings["loss"]:g}, seed {data["seed"]}: <b>{html.escape(verdict)}</b></p>
<p>Goodput {data["goodput_bps"] / 1e6:.3f} Mb/s, second half {data["goodput_second_half_bps"] / 1e6:.3f} of
{data["ideal_goodput_bps"] / 1e6:.3f} Mb/s; {data["losses"]} losses, {data["retransmissions"]} retransmissions.</p>
{plot}
<h2>Why the two differ</h2><ul>{notes}</ul>
<details><summary>ns-3 settings</summary><table>{given}</table></details>
</body></html>
"""
