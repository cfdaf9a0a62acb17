# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Faults that the schema alone cannot see: unknown axes, unknown values of an axis, policies that the build lacks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from downbeat_toe.policies import ArgumentRefused, Policy, find
from downbeat_toe.refused import Refused

from sim.experiments.engine.schema import rows
from sim.experiments.engine.schema.experiment import Experiment
from sim.experiments.engine.schema.measures import Plot, Published

Policies = Mapping[str, dict[str, Policy]]  # by family and name


def check_axes(path: Path, names: Mapping[str, tuple[str, ...]], experiment: Experiment, read: rows.Rows) -> None:
    chosen_by: list[tuple[str, str, str | None]] = []  # place in the file, an axis, one of its names
    places = [row.place for table in rows.TABLES for row in read[table]]
    measures: list[Published | Plot] = [*experiment.published, *experiment.plot]
    for what, each in zip(places, measures, strict=True):
        chosen = [*each.of.items(), *each.over.items()]
        chosen += [(getattr(each, "along", ""), name) for name in getattr(each, "order", ())]
        chosen_by += [(what, axis, name) for axis, name in chosen]
    for row, plot in zip(read["plot"], experiment.plot, strict=True):
        chosen_by += [] if plot.series else [(row.place, plot.x, None)]
        chosen_by += [(row.place, plot.by, None)] if plot.by or plot.among else []
        chosen_by += [(row.place, plot.by, name) for name in plot.among]
    for number, table in enumerate(experiment.table, 1):
        chosen = [*table.of.items(), *(pair for column in table.column for pair in column.over.items())]
        chosen_by += [(f"table {number}", axis, name) for axis, name in chosen]
        chosen_by += [(f"table {number}", axis, None) for axis in (*table.rows, *([table.each] if table.each else []))]
    for what, axis, name in chosen_by:
        if axis not in names:
            raise Refused(f"{path}: {what}: no axis '{axis}', use {', '.join(names) or 'none'}")
        if name is not None and name not in names[axis]:
            raise Refused(f"{path}: {what}: axis {axis} has no '{name}', use {', '.join(names[axis])}")


def check_policies(path: Path, experiment: Experiment, policies: Policies | None) -> None:
    """`policies` None: not checked."""
    if policies is None:
        return
    for flow in experiment.flow:
        uses = [("startup", flow.startup, flow.startup_argument), ("steady", flow.steady, flow.steady_argument)]
        uses += [("steady", flow.steady, change.steady_argument) for change in flow.changes]
        for family, name, argument in uses:
            if name == "logistic" and not argument and experiment.run.preset != "sim":
                raise Refused(
                    f"{path}: flow '{flow.label}': logistic without K measures K and A, which only run.preset = 'sim' can: "
                    "the other presets count each pair as disturbed"
                )
            try:
                find(policies[family], name).argument(argument)
            except ArgumentRefused as error:
                raise Refused(f"{path}: flow '{flow.label}': {family}: {error}") from None
