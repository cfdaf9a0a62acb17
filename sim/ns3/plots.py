# SPDX-License-Identifier: BSD-2-Clause-Patent
"""sim.html: one file that holds everything, Plotly included."""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from downbeat_toe import pages
from plotly.subplots import make_subplots

from sim.ns3.network import Transfer

NANOSECONDS = 1e9
COLOURS = {"flight": "#2ca02c", "ssthresh": "#d62728", "cwnd": "#1f77b4"}  # in the order of drawing: cwnd on top
UNSET = 1 << 29  # bytes: an ssthresh that nobody has lowered yet
THROUGHPUT_SAMPLES = 4  # a point of throughput spans so many samples: one round trip


def write(path: Path, data: dict[str, Any], core: Transfer, reno: Transfer | None, command: str) -> None:
    senders = [("core", core), *([("ns-3 TcpLinuxReno", reno)] if reno else [])]
    titles = [f"{name}: cwnd, ssthresh, flight" for name, _ in senders]
    titles += ["bottleneck queue", "throughput", "round-trip time"]
    units = ["kB"] * len(senders) + ["kB", "Mb/s", "ms"]
    figure = make_subplots(rows=len(titles), shared_xaxes=True, vertical_spacing=0.05, subplot_titles=titles)
    for row, (name, transfer) in enumerate(senders, 1):
        _windows(figure, row, transfer.events)
        line = {"color": pages.COLOURS[row - 1], "width": 1.2}
        shared = [_queue(transfer.series), _throughput(transfer.series), _rtt(transfer.events)]
        for below, (times, values) in enumerate(shared, len(senders) + 1):
            x, y = pages.thinned(times, values)
            figure.add_scatter(x=x, y=y, name=name, line=line, mode="lines", row=below, col=1)
    for row, unit in enumerate(units, 1):
        figure.update_yaxes(title_text=unit, rangemode="tozero", row=row)
    figure.update_xaxes(title_text="time, s", row=len(titles))
    pages.finish(figure, row_height=240, each=True)
    path.write_text(
        pages.page("The core over ns-3", _body(data, pages.plot(figure)), command=command, seed=data["seed"])
    )


def _windows(figure: go.Figure, row: int, events: Sequence[dict[str, str]]) -> None:
    rows = [event for event in events if event.get("live", "1") == "1" and event["cwnd"] not in ("0", "0.000")]
    times = [int(event["time_ns"]) / NANOSECONDS for event in rows]
    for quantity, colour in COLOURS.items():
        values = [float(event[quantity]) for event in rows]
        x, kilobytes = pages.thinned(times, [value / 1e3 if value < UNSET else None for value in values])
        line = {"color": colour, "shape": "hv", "width": 1.2}
        figure.add_scatter(x=x, y=kilobytes, name=quantity, line=line, mode="lines", row=row, col=1)
    again = [event for event in rows if event.get("retransmission") == "1"]
    if again:
        marks = {"symbol": "x", "color": "black", "size": 6}
        figure.add_scatter(
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


def _body(data: dict[str, Any], plot: str) -> str:
    settings, comparison = data["settings"], data["comparison"]
    queue = settings["buffer"]
    path = (
        f"{settings['size']:,} bytes over {settings['rate'] / 1e6:g} Mb/s, {settings['rtt'] / 1e6:g} ms, buffer "
        + (f"{queue['packets']} packets" if queue["packets"] else f"{queue['bytes']:,} bytes")
        + f", loss {settings['loss']:g}."
    )
    goodputs = f"""Goodput {data["goodput_bps"] / 1e6:.3f} Mb/s, second half {data["goodput_second_half_bps"] / 1e6:.3f} of
{data["ideal_goodput_bps"] / 1e6:.3f} Mb/s; {data["losses"]} losses, {data["retransmissions"]} retransmissions."""
    if comparison:
        goodputs += f" ns-3's {comparison['sender'].removeprefix('ns3::')}: {comparison['goodput_bps'] / 1e6:.3f} Mb/s."
    why = f"<h2>Why the two differ</h2>{pages.items(comparison['differences'])}" if comparison else ""
    given = pages.table(["ns-3", "value"], data["ns3_settings"].items())
    return f"""<p>{pages.verdict(data["passed"], "" if data["passed"] else f"FAILED: {data['failure']}")}. {html.escape(path)}</p>
<p>Start-up: <b>{html.escape(settings["startup_text"])}</b>; steady state: <b>{html.escape(settings["steady_text"])}</b>.
{goodputs}</p>
{plot}
{why}
<details><summary>ns-3 settings</summary>{given}</details>"""
