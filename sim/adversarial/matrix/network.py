# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs cells against ns-3's TCP, several processes at once, and judges them."""

from __future__ import annotations

import hashlib
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sim.adversarial.matrix.cells import Cell
from sim.adversarial.matrix.program import Program

# RFC 6298 leaves the clock's granularity open; ns-3's is this, and a full segment takes an eighth of it on the link.
TICK_SECONDS = 0.001
MAX_ACKNOWLEDGMENT_SECONDS = 0.5  # RFC 9293 3.8.6.3


@dataclass(frozen=True)
class Wanted:
    """Options that all cells of a run have in common."""

    size: int | None  # bytes; None: each cell draws its own
    jobs: int
    wall_limit: int  # seconds for one transfer
    waves: Path | None = None
    pcap: Path | None = None


def run(
    path: Path, cells: Sequence[Cell], wanted: Wanted, work: Path, done: Callable[[], None]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Results in the order of the cells, and the settings of ns-3; `done` is called after each cell."""
    results: dict[Cell, dict[str, Any]] = {}
    with _programs(path, min(wanted.jobs, len(cells)), work) as programs, ThreadPoolExecutor(wanted.jobs) as pool:
        waiting = [pool.submit(_one, programs, cell, wanted) for cell in cells]
        for future in as_completed(waiting):
            result = future.result()
            results[result.pop("cell")] = result
            done()
        free = programs.get()
        programs.put(free)
        return [results[cell] for cell in cells], free.settings


@contextmanager
def _programs(path: Path, count: int, work: Path) -> Iterator[queue.Queue[Program]]:
    free: queue.Queue[Program] = queue.Queue()
    for number in range(count):
        place = work / str(number)
        place.mkdir()
        free.put(Program(path, place))
    try:
        yield free
    finally:
        while not free.empty():
            free.get().close()


def _one(programs: queue.Queue[Program], cell: Cell, wanted: Wanted) -> dict[str, Any]:
    contents = cell.contents(wanted.size)
    words: dict[str, object] = {name: value for name, value in asdict(cell).items() if name != "congestion"}
    words |= {"seed": cell.path_seed}
    words |= {"waves": wanted.waves} if wanted.waves else {}
    words |= {"pcap": wanted.pcap} if wanted.pcap else {}
    program = programs.get()
    try:
        said, received = program.transfer(contents, words, wanted.wall_limit)
    finally:
        programs.put(program)
    return {"cell": cell, **judged(cell, contents, received, said, wanted.size)}


def judged(cell: Cell, contents: bytes, received: bytes, said: dict[str, Any], size: int | None) -> dict[str, Any]:
    """One of matrix.json's cells: what it was, what it showed, and what is wrong with that."""
    equal = hashlib.sha256(contents).digest() == hashlib.sha256(received).digest()
    failures = [said["failure"]] if said["failure"] else []
    if not equal:
        failures.append(f"SHA-256 differs: {first_difference(contents, received)}")
    if cell.role == "sender" and said.get("idle_beyond_rto_seconds", 0) > TICK_SECONDS:  # else it is ns-3 that waits
        failures.append(
            f"idle for {said['longest_idle_seconds']:.6f} s from {said['longest_idle_at']:.6f} s on, "
            f"{said['longest_idle_rto']:.3f} times the RTO, with data outstanding"
        )
    if said.get("longest_answer_seconds", 0) > MAX_ACKNOWLEDGMENT_SECONDS:
        failures.append(f"data waited {said['longest_answer_seconds']:.6f} s for an acknowledgment")
    if said.get("wrong_checksums"):
        failures.append(f"{said['wrong_checksums']} segments of the core had wrong checksums or lengths")
    if said.get("late_arrivals"):
        failures.append(f"{said['late_arrivals']} frames reached the core late: the harness is wrong")
    figures = asdict(cell) | {"bytes": len(received), "size": len(contents), "sha256_equal": equal}
    return figures | {"failures": failures, "replay": cell.command(size), **said}


def first_difference(sent: bytes, received: bytes) -> str:
    for position, (ours, theirs) in enumerate(zip(sent, received, strict=False)):
        if ours != theirs:
            return f"first at byte {position} of {len(sent)}"
    return f"{len(received)} bytes of {len(sent)} arrived"
