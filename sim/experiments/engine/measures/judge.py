# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Published values beside the runs' values: a row for each value, ratio, bound or ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

from sim.experiments.engine.measures.confidence import estimate
from sim.experiments.engine.measures.metrics import measure
from sim.experiments.engine.schema.load import Cell, File
from sim.experiments.engine.schema.measures import Measure, Published
from sim.experiments.engine.schema.units import THIRD

BOUND_SHARE = 10  # a band of ours counts up to this part of a bound
BAND_RUNS = 3  # from so many seeds on the 95 % band is compared, not the mean
# The runs of a cell, one for each seed.
Results = Mapping[tuple[tuple[str, str], ...], Sequence[dict[str, Any]]]


def name(cell: Cell) -> tuple[tuple[str, str], ...]:
    return tuple(cell.names.items())


Varied = Sequence[tuple[str, File, Results]]  # a changed key, with its file and results


class Null(NamedTuple):
    """Results of the null model, and the cells whose runs it changes."""

    file: File
    results: Results
    changed: Set[tuple[tuple[str, str], ...]]


def rows(file: File, results: Results, varied: Varied = (), null: Null | None = None) -> list[dict[str, Any]]:
    """A row is within only if each seed has a value. `varied`: results with other values of what the paper leaves out;
    each row gets its values there. `null`: each row whose runs it changes says whether the null model passes."""
    judged = [_row(file, results, published) for published in file.experiment.published]
    others = [(name, rows(other, of_other)) for name, other, of_other in varied]
    for number, row in enumerate(judged if others else ()):
        row["varied"] = [
            {"with": name, "ours": other[number]["ours"], "within": other[number]["within"]} for name, other in others
        ]
    if null:
        for row, what in zip(judged, file.experiment.published, strict=True):
            if not null.changed.isdisjoint(_cells(file, what)):
                other = _row(null.file, null.results, what)
                row["null"] = {"ours": other["ours"], "within": other["within"]}
    return judged


def _cells(file: File, what: Published) -> set[tuple[tuple[str, str], ...]]:
    """Names of the cells that a row compares."""
    chosen = [{**what.of, what.along: each} for each in what.order] or [dict(what.of)]
    each = chosen + [{**one, **what.over} for one in chosen if what.over]
    return {name(cell) for cell in file.cells for one in each if one.items() <= cell.names.items()}


def values(file: File, results: Results, what: Measure, chosen: Mapping[str, str]) -> list[float]:
    """A value for each seed: the measure's mean over the cells that `chosen` leaves; NaN if one of them has none."""
    cells = [cell for cell in file.cells if all(cell.names[axis] == value for axis, value in chosen.items())]
    runs = range(min(len(results[name(cell)]) for cell in cells))
    return [fmean(measure(cell.experiment, results[name(cell)][run], what) for cell in cells) for run in runs]


def mean(values: Sequence[float]) -> float | None:
    """None where no run has a value."""
    known = [value for value in values if not math.isnan(value)]
    return fmean(known) if known else None


def ratio(
    file: File, results: Results, what: Measure, chosen: Mapping[str, str], over: Mapping[str, str]
) -> float | None:
    """The measure's mean; with `over` its ratio to the mean in the cells that `over` chooses."""
    value = mean(values(file, results, what, chosen))
    if not over or value is None:
        return value
    below = mean(values(file, results, what, {**chosen, **over}))
    return value / below if below else None


def compared(
    file: File, results: Results, what: Published, chosen: Mapping[str, str]
) -> tuple[float | None, list[float]]:
    """The value or the ratio, by the seeds that have one, and that of each seed; NaN: it has none."""
    top = values(file, results, what, chosen)
    if not what.over and not what.against:
        return mean(top), top
    below_it = what.model_copy(update={"label": what.against}) if what.against else what
    bottom = values(file, results, below_it, {**chosen, **what.over})
    ratios = [a / b if b else float("nan") for a, b in zip(top, bottom, strict=True)]
    above, below = mean(top), mean(bottom)
    return (None if above is None or not below else above / below), ratios


def _row(file: File, results: Results, what: Published) -> dict[str, Any]:
    row: dict[str, Any] = {"quantity": what.quantity, "figure": what.figure, "level": what.level, "unit": what.unit}
    if what.order:
        found = {each: compared(file, results, what, {**what.of, what.along: each}) for each in what.order}
        known = {each: value for each, (value, _) in found.items() if value is not None}
        ours = sorted(known, key=lambda each: known[each], reverse=True)
        row |= {"published": " > ".join(what.order), "tolerance": what.tie or "exact", "ours": " > ".join(ours)}
        complete = not any(math.isnan(one) for _, seeds in found.values() for one in seeds)
        within = complete and _ranked([known[each] for each in what.order], what.tie)
        row |= {"values": known}
    else:
        value, seeds = compared(file, results, what, what.of)
        known_seeds = [one for one in seeds if not math.isnan(one)]
        row |= {"published": published(what), "tolerance": what.tolerance, "ours": value, "seeds": len(known_seeds)}
        band = (value, value) if value is not None else None
        if len(known_seeds) > 1:
            interval = estimate(known_seeds)
            row["confidence_95"] = [interval.low, interval.high]
            if len(known_seeds) >= BAND_RUNS and value is not None:
                reach = min(interval.half_width, tolerated(what))
                band = (value - reach, value + reach)
        within = band is not None and len(known_seeds) == len(seeds) and overlaps(what, *band)
    row["within"] = within
    if what.explained and not within:
        row["explained"] = what.explained
    return row


def published(what: Published) -> float | str | None:
    if what.value is not None:
        return what.value
    if what.between is not None:
        return f"{what.between[0]:g} to {what.between[1]:g}"
    return f"at least {what.at_least:g}" if what.at_least is not None else f"at most {what.at_most:g}"


def tolerated(what: Published) -> float:
    """The tolerance in the row's unit: of a ratio's bounds, and where the file says so of a ratio, a third of the
    difference from 1 that the paper claims; half of an interval; a tenth of a bound. No wider band of ours counts, else
    scatter alone would pass."""
    if what.is_ratio and (what.value is None or what.tolerance == THIRD):
        return claimed(what) / 3
    if what.between is not None:
        return (what.between[1] - what.between[0]) / 2
    if what.value is None:
        return abs(what.at_least or what.at_most or 0) / BOUND_SHARE
    given = what.tolerance
    return abs(what.value) * float(given.strip(" %")) / 100 if isinstance(given, str) else float(given or 0)


def claimed(what: Published) -> float:
    """The smallest difference from 1 that a ratio's published value or bounds claim; 0 where 1 is between them."""
    bounds = [bound for bound in (what.value, what.at_least, what.at_most, *(what.between or ())) if bound is not None]
    return 0.0 if min(bounds) < 1 < max(bounds) else min(abs(bound - 1) for bound in bounds)


def overlaps(what: Published, low: float, high: float) -> bool:
    """A band of ours and the published value or bounds, with their tolerance; more or less than equal is not equal."""
    if what.value is not None:
        return low <= what.value + tolerated(what) and high >= what.value - tolerated(what)
    slack = tolerated(what) if what.is_ratio else 0.0
    bottom, top = what.between or (what.at_least, what.at_most)
    if what.is_ratio and what.between is None and claimed(what) == 0:
        return high > 1 if top is None else low < 1
    return (bottom is None or high >= bottom - slack) and (top is None or low <= top + slack)


def _ranked(values: Sequence[float], tie: float) -> bool:
    """Without a tie no two may be equal, with one not all."""
    apart = len(set(values)) == len(values) if not tie else len(set(values)) > 1
    return apart and all(higher >= lower * (1 - tie) for higher, lower in pairwise(values))


def counts(all_rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Counts of a paper's published values; goals of ours do not count. `null_reproduced` of `null_rows`: those that the
    null model passes."""
    rows_of_papers = [row for row in all_rows if row["level"] != "goal"]
    reproduced = sum(1 for row in rows_of_papers if row["within"])
    explained = sum(1 for row in rows_of_papers if not row["within"] and row.get("explained"))
    unexplained = len(rows_of_papers) - reproduced - explained
    found = {"published": len(rows_of_papers), "reproduced": reproduced, "explained": explained, "failed": unexplained}
    tried = [row["null"]["within"] for row in rows_of_papers if "null" in row]
    return found | ({"null_rows": len(tried), "null_reproduced": sum(tried)} if tried else {})
