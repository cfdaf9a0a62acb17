# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The listings of an experiment: measures in columns, combinations of the axes' values in rows."""

from __future__ import annotations

import itertools
from typing import Any

from sim.experiments.engine.measures import judge
from sim.experiments.engine.measures.judge import Results
from sim.experiments.engine.schema.load import File
from sim.experiments.engine.schema.measures import Listing


def data(file: File, results: Results) -> list[dict[str, Any]]:
    """Titles, and rows of names and numbers; None where no run has the number."""
    return [
        _table(file, results, listing, value)
        for listing in file.experiment.table
        for value in (file.axes[listing.each] if listing.each else ("",))
    ]


def _table(file: File, results: Results, listing: Listing, value: str) -> dict[str, Any]:
    rows = []
    one = {listing.each: value} if listing.each else {}
    for names in itertools.product(*(file.axes[axis] for axis in listing.rows)):
        chosen = {**listing.of, **one, **dict(zip(listing.rows, names, strict=True))}
        numbers = [judge.ratio(file, results, column, chosen, column.over) for column in listing.column]
        rows.append([*names, *numbers])
    heads = [*listing.rows, *(each.title for each in listing.column)]
    title = f"{listing.title}: {value}" if value else listing.title
    return {"title": title, "names": len(listing.rows), "heads": heads, "rows": rows}
