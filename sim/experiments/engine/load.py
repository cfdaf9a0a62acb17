# SPDX-License-Identifier: BSD-2-Clause-Patent
"""An experiment's file to its cells: a product of its axes, each validated before anything runs.

A value `"$axis"` stands for the axis's value in a cell, `"$axis.key"` for a key of it where it is a table. The name of
a value is its `name`, or its text. A file with a `base` has the network, axes and flows of that file, which is beside
it or in sim/experiments, but for what it gives itself, and `[replace]` changes parts of them by path. In the full form
the paths of `[full]` replace what the quick form has. `"$notes.key"` stands for a text of `[notes]`.
"""

from __future__ import annotations

import difflib
import itertools
import tomllib
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downbeat_toe.policies import ArgumentRefused, Policy, find
from downbeat_toe.refused import Refused
from pydantic import BaseModel, ValidationError

from sim.experiments.engine import columns
from sim.experiments.engine.measures import Plot, Published
from sim.experiments.engine.schema import rows
from sim.experiments.engine.schema.experiment import Experiment

Policies = Mapping[str, dict[str, Policy]]  # by family and name
MOST_CELLS = 2_000
HERE = Path(__file__).resolve().parents[1]  # the papers' experiments
TABLES = ("axes", "full", "vary", "replace", "notes")  # read here; the others by the schema
INHERITED = ("departs", "assumed", "axes", "topology", "run", "flow", "pairs", "traffic")


@dataclass(frozen=True)
class Cell:
    """One setting of the axes."""

    names: dict[str, str]  # axis: name of its value
    experiment: Experiment


@dataclass(frozen=True)
class File:
    """`cells` in the order of the axes; the last axis changes fastest."""

    path: Path
    axes: dict[str, tuple[str, ...]]
    values: dict[str, tuple[Any, ...]]
    cells: tuple[Cell, ...]
    vary: tuple[tuple[str, Any], ...] = ()  # what the paper leaves out, and a value of it: one at a time

    @property
    def experiment(self) -> Experiment:
        """What the cells have in common is in each of them."""
        return self.cells[0].experiment


def load(
    path: Path,
    policies: Policies | None,
    full: bool = False,
    duration: str = "",
    change: tuple[str, Any] | None = None,
) -> File:
    """Raises Refused with a sentence for each fault. `policies`: of the build; None: their names are not looked at;
    `duration`: instead of the file's, as '60 s'; `change`: one of the file's `vary`."""
    data = _with_base(_read(path), path)
    changes = data.pop("full", {})
    for key, value in changes.items() if full else ():
        _replace(data, key, value, path)
    published = _published(data, full, path)
    if duration:
        _replace(data, "run.duration", duration, path)
    varied = data.pop("vary", {})
    if change is not None:
        _replace(data, *change, path)
    axes: dict[str, list[Any]] = data.get("axes", {})
    notes = {"notes": data.pop("notes")} if "notes" in data else {}
    for axis, values in axes.items():
        if not isinstance(values, list) or not values:
            raise Refused(f"{path}: axes.{axis}: use a list of values")
        if axis in columns.TAKEN or axis == "notes":
            raise Refused(f"{path}: axes.{axis}: results have a column or the file a table of that name, use another")
    names = {axis: tuple(_name(value) for value in values) for axis, values in axes.items()}
    cells = []
    if (size := _product(axes)) > MOST_CELLS:
        raise Refused(f"{path}: axes: {size} cells, at most {MOST_CELLS}")
    for choice in itertools.product(*(zip(names[axis], axes[axis], strict=True) for axis in axes)):
        chosen = dict(zip(axes, choice, strict=True))
        filled = _filled(data, {axis: value for axis, (_, value) in chosen.items()} | notes, path)
        cells.append(Cell({axis: name for axis, (name, _) in chosen.items()}, _validated(path, filled, published)))
    if cells[0].experiment.name != path.stem:
        raise Refused(f"{path}: name: '{cells[0].experiment.name}' is not the file's: write '{path.stem}'")
    _check_axes(path, names, cells[0].experiment, published)
    for cell in cells:
        _check_policies(path, cell.experiment, policies)
    for key, told in varied.items():
        if not isinstance(told, list) or not told:
            raise Refused(f"{path}: vary.{key}: use a list of values")
    vary = tuple((key, value) for key, told in varied.items() for value in told)
    return File(path, names, {axis: tuple(values) for axis, values in axes.items()}, tuple(cells), vary)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        known = HERE / f"{path.name}.toml"
        meant = f": do you mean {known.relative_to(HERE.parents[1])}?" if known.exists() else ""
        raise Refused(f"{path}: {error.strerror}{meant}") from None
    except UnicodeDecodeError:
        raise Refused(f"{path}: not a file of an experiment, which is TOML text") from None
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"{path}: not TOML: {error}") from None
    for table in TABLES:
        if not isinstance(data.get(table, {}), dict):
            raise Refused(f"{path}: {table}: use a table: [{table}]")
    return data


def _with_base(data: dict[str, Any], path: Path) -> dict[str, Any]:
    base, changes = data.pop("base", None), data.pop("replace", {})
    if base is None:
        if changes:
            raise Refused(f"{path}: replace: there is nothing to replace without a base, such as 'thesis-2-3'")
        return data
    origin = next((one for place in (path.parent, HERE) if (one := place / f"{base}.toml").exists()), None)
    if origin is None:
        raise Refused(f"{path}: base: no file {base}.toml beside this one or in sim/experiments")
    inherited = _read(origin)
    if "base" in inherited:
        raise Refused(f"{path}: base: '{base}' has a base itself: use '{inherited['base']}'")
    merged = {key: inherited[key] for key in INHERITED if key in inherited} | data
    for key, value in changes.items():
        _replace(merged, key, value, path)
    return merged


def _published(data: dict[str, Any], full: bool, path: Path) -> list[rows.Row]:
    """The rows of the [[published]] blocks, which take the blocks' place."""
    try:
        published = rows.read(data.get("published", []), full)
    except Refused as refused:
        raise Refused(f"{path}: {refused}") from None
    data["published"] = [row.keys for row in published]
    return published


def _product(axes: Mapping[str, Sequence[Any]]) -> int:
    size = 1
    for values in axes.values():
        size *= len(values)
    return size


def _name(value: Any) -> str:
    return str(value.get("name", "")) if isinstance(value, dict) else str(value)


def _replace(data: dict[str, Any], key: str, value: Any, path: Path) -> None:
    """`key` is a path, as topology.link.rate; one of several flows goes by its label: flow.sender.count."""
    *parents, last = key.split(".")
    table: Any = data
    for parent in parents:
        if isinstance(table, list):
            table = next((one for one in table if isinstance(one, dict) and one.get("label") == parent), None)
        else:
            table = table.get(parent)
        if not isinstance(table, dict | list):
            raise Refused(f"{path}: {key}: the file has no table {parent}")
    if not isinstance(table, dict):
        raise Refused(f"{path}: {key}: say which {parents[-1]} by its label")
    table[last] = value


def _filled(data: Any, chosen: Mapping[str, Any], path: Path) -> Any:
    if isinstance(data, dict):
        return {key: value if key == "axes" else _filled(value, chosen, path) for key, value in data.items()}
    if isinstance(data, list):
        return [_filled(value, chosen, path) for value in data]
    if not isinstance(data, str) or not data.startswith("$"):
        return data
    axis, _, key = data[1:].partition(".")
    if axis not in chosen:
        raise Refused(f"{path}: {data}: no such axis, use {', '.join(f'${each}' for each in chosen) or 'none'}")
    value = chosen[axis]
    if key and (not isinstance(value, dict) or key not in value):
        raise Refused(f"{path}: {data}: the value '{_name(value)}' of axes.{axis} has no key '{key}'")
    # A value of one axis may name another axis, as what a policy is told may depend on the rate.
    others = {name: other for name, other in chosen.items() if name != axis}
    return _filled(value[key] if key else value, others, path)


def _validated(path: Path, data: dict[str, Any], published: Sequence[rows.Row]) -> Experiment:
    try:
        return Experiment.model_validate(data)
    except ValidationError as error:
        faults = error.errors()
        # A list whose items are refused is empty for pydantic.
        kept = [one for one in faults if one["type"] != "too_short" or len(faults) == 1]
        lines = [f"{path}: {_sentence(each['loc'], each['type'], each['msg'], published)}" for each in kept]
        raise Refused("\n".join(dict.fromkeys(lines))) from None


def _sentence(place: Sequence[int | str], kind: str, message: str, published: Sequence[rows.Row]) -> str:
    shown = [str(part + 1) if isinstance(part, int) else part for part in place if not _is_choice(part)]
    if len(place) > 1 and place[0] == "published" and isinstance(place[1], int):
        where = published[place[1]].key(shown[2:])
    else:
        where = ".".join(shown) or "the file"
    if kind == "extra_forbidden":
        keys = _keys(Experiment, place[:-1]) + (["rows"] if place[0] == "published" else [])
        near = difflib.get_close_matches(str(place[-1]), keys, n=1)
        return f"{where}: no such key; " + (f"do you mean {near[0]}? " if near else "") + f"use {', '.join(keys)}"
    if kind == "missing":
        return f"{where}: missing"
    if kind == "tuple_type":
        return f"{where}: use a list; tables of one are written [[{shown[0]}]]"
    return f"{where}: {message.removeprefix('Value error, ')}"


def _is_choice(part: int | str) -> bool:
    """Of a union pydantic names the member that it tried: no key of the file."""
    return isinstance(part, str) and (part[:1].isupper() or "[" in part)


def _keys(model: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    for part in place:
        if isinstance(part, int) or _is_choice(part):
            continue
        field = next((one for name, one in model.model_fields.items() if part in (name, one.alias)), None)
        tables = _types(field.annotation) if field else []
        if not tables:
            return []
        model = tables[0]
    return [field.alias or name for name, field in model.model_fields.items()]


def _types(annotation: Any) -> list[type[BaseModel]]:
    """The tables in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [table for part in typing.get_args(annotation) for table in _types(part)]


def _check_axes(
    path: Path, names: Mapping[str, tuple[str, ...]], experiment: Experiment, published: Sequence[rows.Row]
) -> None:
    chosen_by: list[tuple[str, str, str | None]] = []  # place in the file, an axis, one of its names
    measures: list[tuple[str, Published | Plot]] = [
        *((row.place, each) for row, each in zip(published, experiment.published, strict=True)),
        *((f"plot {number}", each) for number, each in enumerate(experiment.plot, 1)),
    ]
    for what, each in measures:
        chosen = [*each.of.items(), *each.over.items()]
        chosen += [(getattr(each, "along", ""), name) for name in getattr(each, "order", ())]
        chosen_by += [(what, axis, name) for axis, name in chosen]
    for number, plot in enumerate(experiment.plot, 1):
        chosen_by += [] if plot.series else [(f"plot {number}", plot.x, None)]
        chosen_by += [(f"plot {number}", plot.by, None)] if plot.by or plot.among else []
        chosen_by += [(f"plot {number}", plot.by, name) for name in plot.among]
    for number, table in enumerate(experiment.table, 1):
        chosen = [*table.of.items(), *(pair for column in table.column for pair in column.over.items())]
        chosen_by += [(f"table {number}", axis, name) for axis, name in chosen]
        chosen_by += [(f"table {number}", axis, None) for axis in (*table.rows, *([table.each] if table.each else []))]
    for what, axis, name in chosen_by:
        if axis not in names:
            raise Refused(f"{path}: {what}: no axis '{axis}', use {', '.join(names) or 'none'}")
        if name is not None and name not in names[axis]:
            raise Refused(f"{path}: {what}: axis {axis} has no '{name}', use {', '.join(names[axis])}")


def _check_policies(path: Path, experiment: Experiment, policies: Policies | None) -> None:
    for flow in experiment.flow if policies is not None else ():
        assert policies is not None
        told = [("startup", flow.startup, flow.startup_argument), ("steady", flow.steady, flow.steady_argument)]
        told += [("steady", flow.steady, change.steady_argument) for change in flow.changes]
        for family, name, argument in told:
            try:
                find(policies[family], name).argument(argument)
            except ArgumentRefused as error:
                raise Refused(f"{path}: flow '{flow.label}': {family}: {error}") from None
