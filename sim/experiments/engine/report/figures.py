# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each plot of an experiment as vectors for print: build/reports/experiments/NAME-K.pdf, the same bytes from the same
data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("pdf")
from downbeat_toe import pages
from matplotlib import pyplot

SIZE = (6.3, 3.4)  # inches: a column of a page
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "pdf.fonttype": 42,
    "lines.linewidth": 1.2,
}
STYLES = dict(zip(pages.DASHES, ("solid", "dashed", "dotted", "dashdot"), strict=True))
UNDATED = {"CreationDate": None, "Producer": None, "Creator": None}


def write(report: Mapping[str, Any], folder: Path) -> list[Path]:
    """The files, one for each plot in their order; those of an earlier run with more plots are removed."""
    name = report["name"]
    paths = [folder / f"{name}-{number}.pdf" for number in range(1, len(report["plots"]) + 1)]
    for path in folder.glob(f"{name}-*.pdf"):
        if re.fullmatch(rf"{name}-\d+", path.stem) and path not in paths:
            path.unlink()
    for path, plot in zip(paths, report["plots"], strict=True):
        _draw(plot, path)
    return paths


def _draw(plot: Mapping[str, Any], path: Path) -> None:
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=SIZE, layout="constrained")
        marker = "" if plot["x"] == "time" else "o"
        for number, curve in enumerate(plot["curves"]):
            line = pages.line(number)
            colour, style = line["color"], line["dash"]
            y, low, high = (
                [float("nan") if value is None else value for value in curve.get(name, ())]
                for name in ("y", "low", "high")
            )
            if low:
                axes.fill_between(curve["x"], low, high, color=colour, alpha=0.15, linewidth=0)
            axes.plot(
                curve["x"], y, label=curve["name"], color=colour, linestyle=STYLES[style], marker=marker, markersize=3.5
            )
        axes.set_title(plot["title"], loc="left")
        axes.set_xlabel(plot["x_title"])
        axes.set_ylabel(plot["unit"])
        axes.set_ylim(bottom=0)
        if len(plot["curves"]) > 1:
            figure.legend(loc="outside right upper", frameon=False)
        figure.savefig(path, metadata=UNDATED)
        pyplot.close(figure)
