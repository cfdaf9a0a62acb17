# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`python -m sim.adversarial.matrix`: what `make matrix` runs. Options may come from the environment, as make gives
them."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from downbeat_toe import quantities
from downbeat_toe.console import report_console
from rich.console import Console
from rich.progress import Progress

from sim.adversarial.matrix import linux, network, report
from sim.adversarial.matrix.cells import Axes, Cell, covering, every
from sim.adversarial.matrix.network import Wanted
from sim.lib import build, verilated
from sim.linux import namespace

WAVES = build.ROOT / "build" / "waves" / "matrix.fst"
STORIES = 10  # failures that are printed in full
PEERS = ("ns3", "linux")
Value = TypeVar("Value")

console = report_console()


def main(
    peer: Annotated[str, typer.Option(envvar="PEER", help="ns3 or linux")] = "ns3",
    role: Annotated[str, typer.Option(envvar="ROLE", help="of the core: sender or receiver; empty: both")] = "",
    loss: Annotated[str, typer.Option(envvar="LOSS", help="share of frames; empty: every value of the matrix")] = "",
    reorder: Annotated[str, typer.Option(envvar="REORDER")] = "",
    dup: Annotated[str, typer.Option(envvar="DUP")] = "",
    corrupt: Annotated[str, typer.Option(envvar="CORRUPT")] = "",
    seed: Annotated[str, typer.Option(envvar="SEED", help="empty: 1, 2 and 3; with linux 1")] = "",
    congestion: Annotated[str, typer.Option(envvar="CONGESTION", help="of linux: reno, cubic, bbr")] = "",
    cells: Annotated[
        int, typer.Option(envvar="CELLS", min=0, help="so many, new pairs of values first; 0: all, with linux 20")
    ] = 0,
    size: Annotated[str, typer.Option(envvar="SIZE", help="bytes; empty: 256 kB (linux) to 1 MB")] = "",
    jobs: Annotated[int, typer.Option(envvar="JOBS", min=0, help="transfers at once; 0: as the machine allows")] = 0,
    waves: Annotated[bool, typer.Option(envvar="WAVES", help="of one cell: write build/waves/matrix.fst")] = False,
    beat_bytes: Annotated[int, typer.Option(envvar="BEAT_BYTES", help="8, 16, 32 or 64; with ns3")] = 8,
    pcap: Annotated[str, typer.Option(envvar="PCAP", help="of one cell: capture file to write (pcapng)")] = "",
    wall_limit: Annotated[int, typer.Option(envvar="WALL_LIMIT", help="seconds for one transfer")] = 900,
    reports_directory: Annotated[Path, typer.Option("--reports", envvar="REPORTS")] = build.ROOT / "build" / "reports",
) -> None:
    """Transfers between the core and another TCP over paths that lose, reorder, double and damage frames."""
    reports_directory.mkdir(parents=True, exist_ok=True)
    json_path = reports_directory / ("matrix-linux.json" if peer == "linux" else "matrix.json")
    try:
        if peer not in PEERS:
            raise ValueError(f"PEER={peer}: use {' or '.join(PEERS)}")
        texts = {"ROLE": role, "LOSS": loss, "REORDER": reorder, "DUP": dup, "CORRUPT": corrupt}
        chosen = _chosen(peer, texts | {"SEED": seed, "CONGESTION": congestion}, cells)
        if (waves or pcap) and (len(chosen) > 1 or peer == "linux"):
            raise ValueError(f"WAVES and PCAP are for one cell with ns-3; these are {len(chosen)} with {peer}")
        if beat_bytes != 8 and peer == "linux":
            raise ValueError(f"BEAT_BYTES={beat_bytes}: is for PEER=ns3; with linux beats have 8 bytes")
        length = quantities.size(size) if size else None
        with console.status("Building the simulation (the core takes minutes, once for each content)"):
            program = (
                build.linux() / "downbeat_tap"
                if peer == "linux"
                else build.matrix(waves, verilated.wide(beat_bytes)) / "downbeat_matrix"
            )
    except namespace.Missing as missing:
        json_path.write_text("[]\n")
        console.print(f"skipped: {missing}", markup=False, soft_wrap=True)
        raise typer.Exit(0) from None
    except (ValueError, build.BuildFailed) as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(2) from None

    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="matrix-", dir=build.ROOT / "build") as name, _bar() as progress:
        work, task = Path(name), progress.add_task("cells", total=len(chosen))

        def done() -> None:
            progress.advance(task)

        settings: dict[str, Any] = {}
        if peer == "linux":
            results = linux.run(program, chosen, length, jobs or linux.AT_ONCE, wall_limit, work, done)
        else:
            WAVES.parent.mkdir(parents=True, exist_ok=True)
            capture = Path(pcap).resolve() if pcap else None
            wanted = Wanted(length, jobs or os.cpu_count() or 1, wall_limit, WAVES if waves else None, capture)
            results, settings = network.run(program, chosen, wanted, work, done)
            if beat_bytes != 8:
                results = [each | {"replay": f"{each['replay']} BEAT_BYTES={beat_bytes}"} for each in results]
    seconds = time.monotonic() - start
    json_path.write_text(json.dumps(results, indent=1) + "\n")
    facts = {
        "cells": len(chosen),
        "beat_bytes": beat_bytes,
        "wall_clock": {"seconds": round(seconds, 1)},
        "peer": settings,
    }
    json_path.with_stem(f"{json_path.stem}-run").write_text(json.dumps(facts, indent=2) + "\n")
    raise typer.Exit(_tell(results, f"Downbeat core and {peer}: {len(chosen)} cells in {seconds:.0f} s", json_path))


def _tell(results: Sequence[dict[str, Any]], title: str, json_path: Path) -> int:
    failed = [result for result in results if result["failures"]]
    console.print(report.table(results, title))
    for result in failed[:STORIES]:
        console.print(report.story(result), style="red", markup=False, soft_wrap=True)
    for result in failed[STORIES:]:
        words = f"Failed: {result['replay']}: {'; '.join(result['failures'])}"
        console.print(words, style="red", markup=False, soft_wrap=True)
    console.print(
        f"{len(results) - len(failed)} of {len(results)} cells passed. Report: {json_path.name}", markup=False
    )
    return 1 if failed else 0


def _chosen(peer: str, texts: Mapping[str, str], count: int) -> list[Cell]:
    """The matrix's cells: with the given values, or so many of all. Raises ValueError."""
    axes = linux.axes() if peer == "linux" else Axes()
    given = every(
        Axes(
            role=_one("ROLE", texts, axes.role, _among(axes.role)),
            loss=_one("LOSS", texts, axes.loss, quantities.probability),
            reorder=_one("REORDER", texts, axes.reorder, quantities.probability),
            dup=_one("DUP", texts, axes.dup, quantities.probability),
            corrupt=_one("CORRUPT", texts, axes.corrupt, quantities.probability),
            seed=_one("SEED", texts, axes.seed, int),
            congestion=_one("CONGESTION", texts, axes.congestion, _among(axes.congestion)),
        )
    )
    count = count or (linux.CELLS if peer == "linux" else 0)
    return covering(given, count) if count else given


def _one(
    name: str, texts: Mapping[str, str], default: tuple[Value, ...], read: Callable[[str], Value]
) -> tuple[Value, ...]:
    text = texts[name]
    try:
        return (read(text),) if text else default
    except ValueError as error:
        raise ValueError(f"{name}={text}: {error}") from None


def _among(names: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"use {', '.join(names) or 'nothing'}")
        return text

    return read


def _bar() -> Progress:
    return Progress(console=Console(stderr=True), disable=not sys.stderr.isatty())


if __name__ == "__main__":
    typer.run(main)
