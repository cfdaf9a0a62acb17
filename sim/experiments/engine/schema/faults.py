# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A cell against the schema, and its faults as sentences: place in the file, key, and allowed values."""

from __future__ import annotations

import difflib
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from downbeat_toe.refused import Refused
from pydantic import BaseModel, ValidationError

from sim.experiments.engine.schema import rows
from sim.experiments.engine.schema.experiment import Experiment


def validated(path: Path, data: dict[str, Any], read: rows.Rows) -> Experiment:
    """Raises Refused with a sentence for each fault; `read`: the rows in the order of `data`."""
    try:
        return Experiment.model_validate(data)
    except ValidationError as error:
        faults = error.errors()
        # A list whose items are refused is empty for pydantic.
        kept = [one for one in faults if one["type"] != "too_short" or len(faults) == 1]
        lines = [f"{path}: {_sentence(each['loc'], each['type'], each['msg'], read)}" for each in kept]
        raise Refused("\n".join(dict.fromkeys(lines))) from None


def _sentence(place: Sequence[int | str], kind: str, message: str, read: rows.Rows) -> str:
    shown = [str(part + 1) if isinstance(part, int) else part for part in place if not _is_choice(part)]
    where = ".".join(shown) or "the file"
    if len(place) > 1 and place[0] in read and isinstance(place[1], int):
        where = read[str(place[0])][place[1]].key(shown[2:])
    if kind == "extra_forbidden":
        keys = _keys(Experiment, place[:-1]) + (["rows"] if place[0] in read else [])
        near = difflib.get_close_matches(str(place[-1]), keys, n=1)
        return f"{where}: no such key; " + (f"do you mean {near[0]}? " if near else "") + f"use {', '.join(keys)}"
    if kind == "missing":
        return f"{where}: missing"
    if kind == "tuple_type":
        return f"{where}: use a list; tables of one are written [[{shown[0]}]]"
    return f"{where}: {message.removeprefix('Value error, ')}"


def _is_choice(part: int | str) -> bool:
    """In a union pydantic names the member that it tried: no key of the file."""
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
