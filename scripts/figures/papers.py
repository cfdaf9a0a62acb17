# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/papers.md: the experiments of the papers, repeated with the RTL."""

from __future__ import annotations

from scripts.figures import text
from scripts.figures.experiments import Linearity, LinearityFigure
from scripts.figures.kinds import FILES, LINEARITY
from scripts.figures.records import Records
from scripts.figures.text import Value, number


def page(records: Records) -> str:
    opening = (
        "The papers' experiments with the RTL over ns-3, beside what was published. [What they "
        "show](../../explanation/papers.md)."
    )
    return text.page("Papers", opening, [part(records) for part in (_files, _linearity)])


def _files(records: Records) -> str | None:
    entries = records.entries(FILES)
    if not entries:
        return None
    files = entries[-1].figures
    shows = (
        f"Of {files.published} published values {files.reproduced} are within their tolerance; of {files.explained} "
        f"more the file says why not, of {files.failed} none does. `experiments.html` has all. Below: values within, of "
        "those published (runs of a cell, and whether in full length)."
    )
    if files.null_rows:
        shows += (
            " As a null model every connection of the core begins by standard slow start and goes on as Reno: of "
            f"{files.null_rows} values that this can change it passes {files.null_reproduced}."
        )
    papers: dict[str, list[str]] = {}
    for name, each in files.experiments.items():
        if each.published:
            runs = f"{each.runs_of_a_cell}{', full' if each.form == 'full' else ''}"
            cell = f"{name} {each.reproduced}/{each.published} ({runs})"
            papers.setdefault(each.source.split(",")[0], []).append(cell)
    within = text.table(
        ("source", "experiments"), [[paper, ", ".join(cells)] for paper, cells in papers.items()], left=2
    )
    outside: list[list[Value]] = [
        [f"{name}, {row.figure}", row.quantity, row.published, row.ours]
        for name, each in files.experiments.items()
        for row in each.outside
        if not row.explained
    ]
    heads = ("experiment, figure", "quantity", "published", "ours")
    body = text.table(heads, outside, left=2) if outside else "All that differ have a reason."
    return text.section("Experiments that are files", text.commands(entries), shows, f"{within}\n\n{body}")


def _linearity(records: Records) -> str | None:
    entries = records.entries(LINEARITY)
    if not entries:
        return None
    tables = [_curves(entry.figures) for entry in entries]
    shows = (
        "Figures 4-6 to 4-9 by the MAC's launch gate and stamps: the gap, in ms, at which the curve of the gaps received "
        "meets the gaps sent, beside constant-rate sources. `linearity.json` has the curves." + text.age(entries)
    )
    return text.section("Gap sent, gap received", text.commands(entries), shows, "\n\n".join(tables))


def _curves(linearity: Linearity) -> str:
    figures: list[LinearityFigure] = linearity.figures
    rows: list[list[Value]] = [
        ["meets y = x at", *(_meets(figure.meets_ms) for figure in figures)],
        ["published", *(_meets(figure.published_ms) for figure in figures)],
    ]
    return text.table(("sources", *(number(figure.cross_sources) for figure in figures)), rows)


def _meets(gap: int | None) -> str:
    return "never" if gap is None else number(gap)
