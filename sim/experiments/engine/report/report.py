# SPDX-License-Identifier: BSD-2-Clause-Patent
"""build/reports/experiments/NAME.json and NAME-K.pdf of each experiment, experiments.json with the counts of all,
experiments.html.

The same seed gives the same bytes: times of this machine stand in none of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from downbeat_toe import pages
from downbeat_toe.console import report_console
from downbeat_toe.pages import number
from rich.table import Table

from sim.experiments.engine.measures import judge
from sim.experiments.engine.measures.judge import Results
from sim.experiments.engine.report import figures, page, plots, tables
from sim.experiments.engine.schema.load import File, sha256
from sim.lib.cache import ROOT

REPORTS = ROOT / "build" / "reports"
FOLDER = REPORTS / "experiments"
COUNTS = REPORTS / "experiments.json"
PAGE = REPORTS / "experiments.html"


def make(
    file: File,
    results: Results,
    seed: int,
    full: bool,
    varied: judge.Varied = (),
    null: judge.Null | None = None,
) -> dict[str, Any]:
    experiment = file.experiment
    return {
        "name": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "seed": seed,
        "form": "full" if full else "quick",
        "simulated_seconds": experiment.run.duration / 1e9,
        "runs_of_a_cell": max(map(len, results.values())),
        "axes": {axis: list(names) for axis, names in file.axes.items()},
        "departs": list(experiment.departs),
        "assumed": list(experiment.assumed),
        "file_sha256": sha256(file.path),
        "commit": pages.version(),
        "rows": judge.rows(file, results, varied, null),
        "tables": tables.data(file, results),
        "plots": plots.data(file, results, varied),
        "failures": [
            f"{', '.join(f'{axis} {value}' for axis, value in cell)}: {run['failure']}"
            for cell, runs in results.items()
            for run in runs
            if run["failure"]
        ],
    }


def write(report: Mapping[str, Any], command: str) -> None:
    """Writes the experiment's file, and the counts and the page of all experiments there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    _write(FOLDER / f"{report['name']}.json", json.dumps(report, indent=1, allow_nan=False) + "\n")
    figures.write(report, FOLDER)
    found = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    reports = [one for one in found if "form" in one]  # the folder has manifests too
    each = {one["name"]: {**judge.counts(one["rows"]), **_summary(one)} for one in reports}
    whole = judge.counts([row for one in reports for row in one["rows"]])
    _write(COUNTS, json.dumps({**whole, "experiments": each}, indent=1) + "\n")
    _write(PAGE, page.render(reports, whole, command))


def _summary(report: Mapping[str, Any]) -> dict[str, Any]:
    """An experiment's entry in the record: its file, all rows, and each published value that is not reproduced."""
    keys = ("figure", "quantity", "published", "ours")
    kept = (*keys, "level", "unit", "tolerance", "confidence_95", "seeds", "within", "null", "explained")
    rows = [{key: row[key] for key in kept if key in row} for row in report["rows"]]
    outside = [
        {**{key: row[key] for key in keys}, "explained": row.get("explained", "")}
        for row in report["rows"]
        if not row["within"] and row["level"] != "goal"
    ]
    about = ("title", "source", "form", "seed", "runs_of_a_cell", "simulated_seconds", "file_sha256", "commit")
    return {key: report[key] for key in about if key in report} | {"rows": rows, "outside": outside}


def _write(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)


def show(report: Mapping[str, Any]) -> None:
    table = Table(title=f"{report['title']} ({report['source']})", title_justify="left")
    for title in ("figure", "quantity", "unit", "published", "tolerance", "ours", "difference", "within"):
        table.add_column(title, justify="left" if title in ("figure", "quantity", "unit") else "right")
    for row in report["rows"]:
        numbers = [shown(row[key]) for key in ("published", "tolerance", "ours")]
        verdict = "yes" if row["within"] else "no, explained" if row.get("explained") else "no"
        table.add_row(row["figure"], row["quantity"], row.get("unit", ""), *numbers, page.difference(row), verdict)
    report_console().print(table if report["rows"] else table.title)
    for row in report["rows"]:
        for other in row.get("varied", ()):
            report_console().print(f"  {row['quantity']}: {shown(other['ours'])} with {other['with']}", highlight=False)
    found = judge.counts(report["rows"])
    if "null_rows" in found:
        null = f"The null model passes {found['null_reproduced']} of {found['null_rows']} published values."
        report_console().print(null, highlight=False)
    for listing in report["tables"]:
        report_console().print(listed(listing))


def listed(listing: Mapping[str, Any]) -> Table:
    table = Table(title=listing["title"], title_justify="left")
    for column, head in enumerate(listing["heads"]):
        table.add_column(head, justify="left" if column < listing["names"] else "right")
    for row in listing["rows"]:
        table.add_row(*map(shown, row))
    return table


def shown(value: object) -> str:
    if value is None:
        return "-"
    return number(float(value)) if isinstance(value, int | float) else str(value)


def failed(reports: Sequence[Mapping[str, Any]]) -> list[str]:
    """Failures of runs; a value outside its tolerance is a result, not a failure."""
    return [f"{report['name']}: {failure}" for report in reports for failure in report["failures"]]
