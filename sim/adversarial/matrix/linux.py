# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs cells against the Linux kernel's TCP on a TAP interface, in real time, each in a network namespace. Needs
root."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sim.adversarial.matrix.cells import Axes, Cell
from sim.linux import namespace, transfer

CELLS = 20
DEFAULT_BYTES = 256_000  # a transfer in real time waits out each of its timeouts
AT_ONCE = 8  # they mostly wait
CONGESTION_CONTROLS = ("reno", "cubic", "bbr")


def congestion_controls() -> tuple[str, ...]:
    """Raises Missing if no transfer can be run here. In a process of its own: it moves into a network namespace."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(namespace.require).result()
    return tuple(name for name in CONGESTION_CONTROLS if name in namespace.congestion_controls())


def axes() -> Axes:
    return Axes(seed=(1,), congestion=congestion_controls())


def run(
    program: Path,
    cells: Sequence[Cell],
    size: int | None,
    jobs: int,
    wall_limit: int,
    work: Path,
    done: Callable[[], None],
) -> list[dict[str, Any]]:
    """One of matrix-linux.json's cells for each, in their order; `done` is called after each."""
    results: dict[Cell, dict[str, Any]] = {}
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        waiting = {
            pool.submit(_one, program, cell, size or DEFAULT_BYTES, wall_limit, work / str(number)): cell
            for number, cell in enumerate(cells)
        }
        for future in as_completed(waiting):
            results[waiting[future]] = future.result()
            done()
    return [results[cell] for cell in cells]


def _one(program: Path, cell: Cell, size: int, wall_limit: int, work: Path) -> dict[str, Any]:
    work.mkdir()
    contents = cell.contents(size)
    plan = transfer.Plan(
        transfer.FROM_CORE if cell.role == "sender" else transfer.TO_CORE,
        contents,
        transfer.Impairment(cell.loss, cell.reorder, cell.dup, cell.corrupt),
        cell.path_seed,
        cell.congestion,
        wall_limit,
        waves=None,
        pcap=None,
    )
    said = transfer.run(plan, program, work).as_json()
    core = said["core"]
    figures = asdict(cell) | {"bytes": said["bytes"], "size": size, "sha256_equal": said["sha256_equal"]}
    return figures | {
        "failures": said["failures"],
        "replay": cell.command(size, PEER="linux"),
        "peer": said["peer"],
        "seconds": said["seconds"],
        "retransmissions": said["retransmissions"],
        "frames": {name: core.get(name) for name in ("frames", "dropped", "reordered", "duplicated", "corrupted")},
        "state": (core.get("connection") or {}).get("state", "unknown"),
        "counters": core.get("counters"),
        "last_events": core.get("last_events", []) if said["failures"] else [],
    }
