# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The curves of an experiment's plots: a measure over an axis or the run's marks, with its band over what the paper
leaves out, a series of the first run in time, or the gaps of all runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from downbeat_toe import pages

from sim.experiments.engine.measures import judge, traces
from sim.experiments.engine.measures.judge import Results, Varied
from sim.experiments.engine.schema.load import Cell, File
from sim.experiments.engine.schema.measures import Plot

MAX_POINTS = 400  # points of a curve in time


def data(file: File, results: Results, varied: Varied = ()) -> list[dict[str, Any]]:
    """A curve of a varied experiment has `low` and `high` too, the range of each of its points."""
    others = [(other, of_other) for _, other, of_other in varied if other.axes == file.axes]
    return [_plot(file, results, plot, others) for plot in file.experiment.plot]


def _plot(file: File, results: Results, plot: Plot, others: Sequence[tuple[File, Results]]) -> dict[str, Any]:
    names = plot.among or (file.axes[plot.by] if plot.by else ("",))
    chosen = [{**plot.of, plot.by: name} if plot.by else dict(plot.of) for name in names]
    if plot.series == "gaps":
        curves = [_gaps(file, results, plot, *one) for one in zip(chosen, names, strict=True)]
        curves.append(_equal(curves))
    elif plot.series and plot.series != "marks":
        curves = [curve for one in chosen for curve in _series(file, results, plot, one)]
    else:
        curves = [_measures(file, results, plot, others, *one) for one in zip(chosen, names, strict=True)]
    return {"title": plot.title, "x": plot.x, "x_title": _titled(file, plot.x), "unit": plot.unit, "curves": curves}


def _measures(
    file: File, results: Results, plot: Plot, others: Sequence[tuple[File, Results]], chosen: dict[str, str], name: str
) -> dict[str, Any]:
    points = list(_points(file, plot, chosen))
    values = [
        [judge.ratio(*one, measure, cell, plot.over) for one in ((file, results), *others)]
        for _, measure, cell in points
    ]
    curve: dict[str, Any] = {"name": name or plot.label, "x": [x for x, _, _ in points]}
    curve["y"] = [ours for ours, *_ in values]
    if others:
        known = [[one for one in each if one is not None] for each in values]
        curve["low"] = [min(each, default=None) for each in known]
        curve["high"] = [max(each, default=None) for each in known]
    return curve


def _points(file: File, plot: Plot, chosen: dict[str, str]) -> Iterator[tuple[float | str, Plot, dict[str, str]]]:
    """Each point: its x, its measure, and its cells."""
    if plot.series == "marks":
        for mark in file.experiment.run.marks:
            yield mark / 1e9, plot.model_copy(update={"mark": mark}), chosen
    else:
        for each in file.axes[plot.x]:
            yield _number(each), plot, {**chosen, plot.x: each}


def _number(name: str) -> float | str:
    """The number that begins an axis's value, or else its name."""
    head = name.split()[0]
    try:
        return float(head)
    except ValueError:
        return name


def _titled(file: File, x: str) -> str:
    """The axis with its unit, if all its values have the same unit."""
    if x == "time":
        return "time, s"
    if x == "mark":
        return "time since the connection is established, s"
    if x == "gap":
        return "gap at departure, ms"
    units = {name.partition(" ")[2] for name in file.axes[x] if isinstance(_number(name), float)}
    return f"{x}, {unit}" if len(units) == 1 and (unit := units.pop()) else x


def _gaps(file: File, results: Results, plot: Plot, chosen: dict[str, str], name: str) -> dict[str, Any]:
    """Means, and the band of nine tenths of the pairs, ms."""
    cells = [cell for cell in file.cells if all(cell.names[axis] == value for axis, value in chosen.items())]
    gaps = [gap for cell in cells for run in results[judge.name(cell)] for gap in traces.gaps(run, plot.label)]
    groups: dict[float, list[float]] = {}
    for left, arrived in gaps:
        groups.setdefault(round(1e3 * left, 1), []).append(1e3 * arrived)
    known = {left: sorted(groups[left]) for left in sorted(groups)}
    curve: dict[str, Any] = {"name": name or plot.label, "x": list(known)}
    curve["y"] = [fmean(each) for each in known.values()]
    for end, share in (("low", 0.05), ("high", 0.95)):
        curve[end] = [each[round(share * (len(each) - 1))] for each in known.values()]
    return curve


def _equal(curves: Sequence[dict[str, Any]]) -> dict[str, Any]:
    end = max((gap for curve in curves for gap in curve["x"]), default=0)
    return {"name": "y = x", "x": [0, end], "y": [0, end]}


def _series(file: File, results: Results, plot: Plot, chosen: dict[str, str]) -> list[dict[str, Any]]:
    """A curve is named by its cell's values of the axes that the plot does not fix."""
    cells = [cell for cell in file.cells if all(cell.names[axis] == value for axis, value in chosen.items())]
    free = [axis for axis, values in file.axes.items() if axis not in plot.of and len(values) > 1]
    named = [(cell, " ".join(cell.names[axis] for axis in free)) for cell in cells]
    return [curve for cell, name in named for curve in _curves(results[judge.name(cell)][0], plot, cell, name)]


def _curves(run: dict[str, Any], plot: Plot, cell: Cell, name: str) -> list[dict[str, Any]]:
    samples = run["samples"]
    step = max(math.ceil(len(samples["seconds"]) / MAX_POINTS), 1)
    times = samples["seconds"][::step]
    if plot.series == "queue":
        return [{"name": name or "queue", "x": times, "y": [queues[plot.link] for queues in samples["queues"][::step]]}]
    labels = [flow["label"] for flow in run["flows"]]
    flows = [number for number, label in enumerate(labels) if plot.label in ("", label)]
    curves = []
    for number in flows:
        label = labels[number] if len(set(labels)) > 1 or not name else ""
        several = str(number + 1) if labels.count(labels[number]) > 1 else ""
        title = " ".join(filter(None, (name, label, several)))
        if plot.series == "window":
            values = [windows[number] for windows in samples["windows"][::step]]
        else:
            sent = [progress[number] for progress in samples["progress"][::step]]
            bits = 8 * cell.experiment.run.packet / run["flows"][number]["segment_size"] / 1e6
            values = [0.0, *(_slope(times, sent, index) * bits for index in range(1, len(sent)))]
        x, y = pages.thinned(times, values)
        curves.append({"name": title, "x": x, "y": y})
    return curves


def _slope(times: list[float], sent: list[int], index: int) -> float:
    return (sent[index] - sent[index - 1]) / (times[index] - times[index - 1])
