# SPDX-License-Identifier: BSD-2-Clause-Patent
"""An experiment's file to its cells: a product of its axes, each validated before anything runs.

A value `"$axis"` stands for the axis's value in a cell, `"$axis.key"` for a key of it where it is a table. The name of
a value is its `name`, or its text. A file with a `base` has the network, axes and flows of that file, which is beside
it or in sim/experiments/papers, but for what it gives itself, and `[replace]` changes parts of them by path. In the full
form the paths of `[full]` replace what the quick form has. `"$notes.key"` stands for a text of `[notes]`.
"""

from __future__ import annotations

import hashlib
import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from downbeat_toe.refused import Refused

from sim.experiments.engine.schema import columns, rows
from sim.experiments.engine.schema.checks import Policies, check_axes, check_policies
from sim.experiments.engine.schema.experiment import Experiment
from sim.experiments.engine.schema.faults import validated
from sim.experiments.names import FILES

MAX_CELLS = 2_000
ROOT = Path(__file__).resolve().parents[4]
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
    vary: tuple[tuple[str, Any], ...] = ()  # a key that the paper leaves out, and a value: one at a time

    @property
    def experiment(self) -> Experiment:
        """The first cell: each has all that cells have in common."""
        return self.cells[0].experiment


def load(
    path: Path,
    policies: Policies | None,
    full: bool = False,
    duration: str = "",
    change: tuple[str, Any] | None = None,
    startup: str = "",
    steady: str = "",
) -> File:
    """Raises Refused with a sentence for each fault. `policies`: those of the build; None: names of policies are not
    checked. `duration` replaces the file's, as '60 s'. `change`: one of the file's `vary`. `startup`, `steady`: every
    core's flow has these policies, without arguments, and starts without an estimate."""
    data = _with_base(_read(path), path)
    changes = data.pop("full", {})
    for key, value in changes.items() if full else ():
        _replace(data, key, value, path)
    read = _rows(data, full, path)
    if duration:
        _replace(data, "run.duration", duration, path)
    varied = data.pop("vary", {})
    if change is not None:
        _replace(data, *change, path)
    for flow in data.get("flow", []):
        if startup and flow.get("sender", "core") == "core":
            flow |= {"startup": startup, "startup_argument": "", "estimate": ""}
        if steady and flow.get("sender", "core") == "core":
            flow |= {"steady": steady, "steady_argument": ""}
            flow["changes"] = [change | {"steady_argument": ""} for change in flow.get("changes", [])]
    axes: dict[str, list[Any]] = data.get("axes", {})
    notes = {"notes": data.pop("notes")} if "notes" in data else {}
    for axis, values in axes.items():
        if not isinstance(values, list) or not values:
            raise Refused(f"{path}: axes.{axis}: use a list of values")
        if axis in columns.TAKEN or axis == "notes":
            raise Refused(f"{path}: axes.{axis}: results have a column or the file a table of that name, use another")
    names = {axis: tuple(_name(value) for value in values) for axis, values in axes.items()}
    cells = []
    if (size := _product(axes)) > MAX_CELLS:
        raise Refused(f"{path}: axes: {size} cells, at most {MAX_CELLS}")
    for choice in itertools.product(*(zip(names[axis], axes[axis], strict=True) for axis in axes)):
        chosen = dict(zip(axes, choice, strict=True))
        filled = _filled(data, {axis: value for axis, (_, value) in chosen.items()} | notes, path)
        cells.append(Cell({axis: name for axis, (name, _) in chosen.items()}, validated(path, filled, read)))
    if cells[0].experiment.name != path.stem:
        raise Refused(f"{path}: name: '{cells[0].experiment.name}' is not the file's: write '{path.stem}'")
    check_axes(path, names, cells[0].experiment, read)
    for cell in cells:
        check_policies(path, cell.experiment, policies)
    for key, values in varied.items():
        if not isinstance(values, list) or not values:
            raise Refused(f"{path}: vary.{key}: use a list of values")
    vary = tuple((key, value) for key, values in varied.items() for value in values)
    return File(path, names, {axis: tuple(values) for axis, values in axes.items()}, tuple(cells), vary)


def sha256(path: Path) -> str:
    """The hash of the file and of its base."""
    data = _read(path)
    files = [path, *([path.with_name(f"{data['base']}.toml")] if "base" in data else [])]
    known = [each if each.exists() else FILES[each.stem] for each in files]
    return hashlib.sha256(b"".join(each.read_bytes() for each in known)).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        meant = f": do you mean {FILES[path.name].relative_to(ROOT)}?" if path.name in FILES else ""
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
    beside = path.with_name(f"{base}.toml")
    origin = beside if beside.exists() else FILES.get(base)
    if origin is None:
        raise Refused(f"{path}: base: no file {base}.toml beside this one or in sim/experiments/papers")
    inherited = _read(origin)
    if "base" in inherited:
        raise Refused(f"{path}: base: '{base}' has a base itself: use '{inherited['base']}'")
    merged = {key: inherited[key] for key in INHERITED if key in inherited} | data
    for key, value in changes.items():
        _replace(merged, key, value, path)
    return merged


def _rows(data: dict[str, Any], full: bool, path: Path) -> rows.Rows:
    """The rows of the blocks, which take the blocks' place in `data`."""
    try:
        read = {table: rows.read(table, data.get(table, []), full) for table in rows.TABLES}
    except Refused as refused:
        raise Refused(f"{path}: {refused}") from None
    data |= {table: [row.keys for row in of_table] for table, of_table in read.items()}
    return read


def _product(axes: Mapping[str, Sequence[Any]]) -> int:
    size = 1
    for values in axes.values():
        size *= len(values)
    return size


def _name(value: Any) -> str:
    return str(value.get("name", "")) if isinstance(value, dict) else str(value)


def _replace(data: dict[str, Any], key: str, value: Any, path: Path) -> None:
    """`key` is a path, as topology.link.rate; a label chooses one of several flows: flow.sender.count."""
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
    # A value of one axis may name another axis, as an argument of a policy may depend on the rate.
    others = {name: other for name, other in chosen.items() if name != axis}
    return _filled(value[key] if key else value, others, path)
